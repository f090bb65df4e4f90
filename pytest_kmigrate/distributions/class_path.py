"""What manifests of jars add to the class path: the JVM loads it, and no digest of the jars has it."""

import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pytest_kmigrate.model.errors import DistributionError

_MANIFEST = "META-INF/MANIFEST.MF"
_KEY = "class-path:"


def must_be_whole(jars: Sequence[Path]) -> None:
    """DistributionError for a jar that adds anything that is there, and is none of these jars, to the class path."""
    known = {jar.resolve() for jar in jars}
    for jar in jars:
        for entry in _added_by(jar):
            added = (jar.parent / unquote(urlsplit(entry).path)).resolve()
            if added.exists() and added not in known:
                raise DistributionError(
                    f"{jar}: expected a jar that adds none but its neighbours to the class path, got {entry} in its "
                    f"manifest, which no digest would have: put it beside the other jars, or take it out"
                )


def _added_by(jar: Path) -> Iterable[str]:
    try:
        with zipfile.ZipFile(jar) as archive:
            text = archive.read(_MANIFEST).decode(errors="replace")
    except KeyError:
        return ()
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\n ", "").splitlines()  # long lines are folded
    return [entry for line in lines if line.lower().startswith(_KEY) for entry in line[len(_KEY) :].split()]
