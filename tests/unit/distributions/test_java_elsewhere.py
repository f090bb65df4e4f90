"""JVMs on machines with another locale, and with folders from which no program may be run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_kmigrate.distributions import java as looking
from pytest_kmigrate.distributions.ivy import IVY, _proxies
from pytest_kmigrate.distributions.java import allows_programs, find_java, java_environment, unpacking_in
from pytest_kmigrate.model.errors import EnvironmentLackError


@pytest.mark.slow
def test_a_jvm_finds_files_of_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the locale of the environment it would not."""
    folder = tmp_path / "Österreich #1 % x"
    folder.mkdir()
    jar = shutil.copy(IVY, folder / "ivy.jar")
    monkeypatch.setenv("LC_ALL", "C")
    command = [str(find_java().path), "-Xshare:auto", "-jar", str(jar), "-version"]
    assert subprocess.run(command, env=dict(os.environ), capture_output=True, check=False).returncode != 0
    assert subprocess.run(command, env=java_environment(), capture_output=True, check=False).returncode == 0


def test_libraries_are_unpacked_where_programs_may_be_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In Java's own folder, else in the first that will do."""
    good, bad = tmp_path / "good", tmp_path / "bad"
    assert unpacking_in(bad) == []
    monkeypatch.setattr(looking, "allows_programs", lambda folder: folder == good)
    assert unpacking_in(bad, good) == [f"-Djava.io.tmpdir={good}"]
    with pytest.raises(EnvironmentLackError, match=f"/tmp, {bad}, which are read-only or mounted with noexec"):
        unpacking_in(bad)


def test_a_folder_that_is_mounted_with_noexec(tmp_path: Path) -> None:
    """Such as the temporary folder of a hardened machine."""
    in_a_namespace = ["unshare", "--map-root-user", "--mount"]
    if subprocess.run([*in_a_namespace, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no mount namespace may be made on this machine")
    code = f"from {allows_programs.__module__} import *; print(allows_programs(Path({str(tmp_path)!r})))"
    asked = f'mount -t tmpfs -o {{}} none "{tmp_path}" && exec "{sys.executable}" -c "{code}"'
    said = [
        subprocess.run([*in_a_namespace, "sh", "-c", asked.format(options)], capture_output=True, text=True, check=True)
        for options in ("exec", "noexec", "ro")
    ]
    assert [each.stdout.strip() for each in said] == ["True", "False", "False"]


def test_java_is_given_the_proxies_of_the_environment() -> None:
    """It does not read them itself."""
    named = {"http": "http://user@proxy.example:3128", "https": "http://other.example"}
    assert _proxies(named) == [
        "-Dhttp.proxyHost=proxy.example",
        "-Dhttp.proxyPort=3128",
        "-Dhttps.proxyHost=other.example",
        "-Dhttps.proxyPort=80",
    ]
    assert _proxies({"no": "localhost"}) == []
