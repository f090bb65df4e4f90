"""Builds what a release publishes into ``dist/``: wheel, archive, bill of materials (``python -m tests.release``).

With ``--trial`` also of what is no release yet. Each is built twice, and the bytes have to be the same: anybody can
build them from the commit and compare. The time in them is that of the commit. The bill of materials (CycloneDX) has
what a user gets by all extras, at the versions of ``requirements-users.lock`` and with the licences that the packages
declare.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parent.parent
OUT = ROOT / "dist"
LOCK = ROOT / "requirements-users.lock"
_LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==", re.MULTILINE)


def version() -> str:
    """The version of the package."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def unready() -> list[str]:
    """What keeps this from being a release, each with what was expected: all of it at once."""
    heading = re.search(r"^## (\S+)(.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    got, date = heading.groups() if heading else ("none", "")
    fragments = [each.name for each in sorted((ROOT / "docs" / "changes").glob("*.*.md"))]
    status = ["git", "status", "--porcelain"]
    changed = subprocess.run(status, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [
        *(
            [f"CHANGELOG.md: expected {version()}, the version of pyproject.toml, first; got {got}"]
            * (got != version())
        ),
        *([f"CHANGELOG.md: expected a date at the first heading; got {date.strip()}"] * ("unreleased" in date)),
        *([f"docs/changes: expected that the fragments are collected; got {len(fragments)}"] * bool(fragments)),
        *([f"git: expected that all is committed; got {len(changed)} changed or new files"] * bool(changed)),
    ]


def bill_of_materials(environment: Mapping[str, Any], locked: set[str]) -> dict[str, Any]:
    """Keep of an environment's what users get: what is locked for them, and needed by something of ours."""
    needs = {each["ref"]: each.get("dependsOn", []) for each in environment["dependencies"]}
    names = {each["bom-ref"]: normal(each["name"]) for each in environment["components"]}
    root = environment["metadata"]["component"]["bom-ref"]
    kept, waiting = set[str](), [root]
    while waiting:
        each = waiting.pop()
        if each not in kept and (each == root or names.get(each) in locked):
            kept.add(each)
            waiting += needs.get(each, [])
    components = [each for each in environment["components"] if each["bom-ref"] in kept]
    dependencies = [
        {"ref": ref, "dependsOn": sorted(kept.intersection(on))} for ref, on in sorted(needs.items()) if ref in kept
    ]
    return {**environment, "components": components, "dependencies": dependencies}


def normal(name: str) -> str:
    """The name of a package as all spellings of it have it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked() -> set[str]:
    """The names of what users get."""
    return {normal(each) for each in _LOCKED.findall(LOCK.read_text(encoding="utf-8"))}


def build(out: Path) -> None:
    """Wheel, archive and bill of materials of this commit."""
    made = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True)
    known = {**os.environ, "SOURCE_DATE_EPOCH": made.stdout.strip()}
    hatchling = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "--directory", str(out)]
    subprocess.run(hatchling, cwd=ROOT, env=known, check=True, stdout=subprocess.DEVNULL)
    bom = out / f"pytest_kmigrate-{version()}.cdx.json"
    listing = [sys.executable, "-m", "cyclonedx_py", "environment", sys.executable, "--pyproject", "pyproject.toml"]
    listing += ["--mc-type", "library", "--output-reproducible", "-o", str(bom)]
    subprocess.run(listing, cwd=ROOT, env=known, check=True)
    content = bill_of_materials(json.loads(bom.read_text(encoding="utf-8")), locked())
    bom.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of each file, by name."""
    return {each.name: sha256(each.read_bytes()).hexdigest() for each in sorted(folder.iterdir()) if each.is_file()}


def main() -> int:
    """Build twice, compare, print the digests; what is no release is built for a trial only."""
    lines = [f"dist: {each}" for each in unready()]
    if lines:
        advice = "docs/RELEASING.md has the steps; `make dist TRIAL=1` builds all the same"
        sys.stderr.write("\n".join([*lines, advice, ""]))
        if "--trial" not in sys.argv:
            return 2
    OUT.mkdir(exist_ok=True)
    for each in OUT.iterdir():
        each.unlink()
    build(OUT)
    with TemporaryDirectory() as again:
        build(Path(again))
        first, second = digests(OUT), digests(Path(again))
    different = [name for name in first if first[name] != second.get(name)]
    if different:
        sys.stderr.write(f"dist: expected the same bytes twice; {', '.join(different)} differ\n")
        return 1
    sys.stdout.writelines(f"{digest}  {name}\n" for name, digest in first.items())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
