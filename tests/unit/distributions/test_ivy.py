"""Talking to Ivy: what is asked for, and what its failures become."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from pytest_kmigrate.distributions import ivy
from pytest_kmigrate.distributions.ivy import IVY, IVY_SHA256, Artifact, download, run_ivy, settings_file
from pytest_kmigrate.distributions.java import Java
from pytest_kmigrate.model.errors import DistributionError, WrongUseError

ARTIFACTS = [Artifact("org.a", f"module-{number}", "1.0") for number in range(5)] + [
    Artifact("org.b", "x", "2", "agent")
]

UNRESOLVED = """
		module not found: org.a#m;1.0
		::          UNRESOLVED DEPENDENCIES         ::
		:: org.a#m;1.0: not found
"""
ADVICE = ":: USE VERBOSE OR DEBUG MESSAGE LEVEL FOR MORE DETAILS"
REFUSED = f"""{UNRESOLVED}
:::: ERRORS
	Server access error at url http://mirror/a.jar (java.net.ConnectException: Connection refused)
	Server access error at url http://mirror/b.jar (java.net.ConnectException: Connection refused)
{ADVICE}
"""
UNKNOWN_HOST = f"	Host mirror not found. url=http://mirror/a.jar\n{UNRESOLVED * 40}{ADVICE}"
OTHER_CHECKSUM = f"""
		[FAILED     ] org.a#m;1.0!m.jar: invalid sha1: expected=1 computed=2 (9ms)
		:: ^ see resolution messages for details  ^ ::
		:: org.a#m;1.0!m.jar
{ADVICE}
"""
NO_SETTINGS = """
Exception in thread "main" java.text.ParseException: failed to load settings from file:/x.xml: no XML
	at org.apache.ivy.core.settings.XmlSettingsParser.doParse(XmlSettingsParser.java:160)
Caused by: org.xml.sax.SAXParseException; systemId: file:/x.xml; lineNumber: 1; no XML
	at java.xml/com.sun.org.apache.xerces.internal.util.ErrorHandlerWrapper.fatalError(ErrorHandlerWrapper.java:178)
	... 7 more
"""


@pytest.fixture
def java_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A java that writes its arguments to a file per process and then runs what stands in the returned script."""
    script = tmp_path / "then.sh"
    java = tmp_path / "java"
    java.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/$$.arguments\n. {script}\n')
    java.chmod(0o755)
    monkeypatch.setattr(ivy, "find_java", lambda: Java(java, 17, "fake"))
    return script


def test_coordinates() -> None:
    """A coordinate survives being written and read; the file name follows Maven."""
    for artifact in ARTIFACTS:
        assert Artifact.parsed(str(artifact)) == artifact
    assert [artifact.file_name for artifact in ARTIFACTS[-2:]] == ["module-4-1.0.jar", "x-2-agent.jar"]


def test_ivy_is_the_released_one() -> None:
    """Byte for byte, with its licence and notice inside."""
    assert hashlib.sha256(IVY.read_bytes()).hexdigest() == IVY_SHA256
    assert {"META-INF/LICENSE", "META-INF/NOTICE"} <= set(zipfile.ZipFile(IVY).namelist())


def test_every_artifact_is_asked_for_once(java_says: Path, tmp_path: Path) -> None:
    """The processes share the artifacts; each arrival is counted; a classifier is passed on."""
    java_says.write_text('echo ":: resolving"; echo "	[SUCCESSFUL ] org.a#m;1.0!m.jar (3ms)"\n')
    work, arrived = tmp_path / "work", []
    work.mkdir()
    download(ARTIFACTS, tmp_path / "libs", work, lambda: arrived.append(1))
    asked = "".join(file.read_text() for file in work.glob("*/jars.xml"))
    assert all(asked.count(f'name="{artifact.module}" rev=') == 1 for artifact in ARTIFACTS)
    assert 'm:classifier="agent"' in asked
    assert len(arrived) == len(list(tmp_path.glob("*.arguments"))) == ivy.PROCESSES


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("UNRESOLVED DEPENDENCIES", r"(?s)UNRESOLVED.*KMIGRATE_IVY_SETTINGS.*kmigrate fetch"),
        ("No space left on device", "the disk is full"),
        (
            REFUSED,
            r"says: Server access error at url http://mirror/a\.jar \(.*ConnectException: .*refused\); check",
        ),
        (UNKNOWN_HOST, r"says: Host mirror not found\. url=http://mirror/a\.jar; check the network"),
        (
            OTHER_CHECKSUM,
            r"says: \[FAILED     \] org\.a#m;1\.0!m\.jar: invalid sha1: expected=1 .*\(9ms\); check",
        ),
        (NO_SETTINGS, r"says: java\.text\.ParseException: failed to load settings from file:/x\.xml: no XML; check"),
        ("", "says: nothing at all"),
    ],
)
def test_failure_is_told(java_says: Path, words: str, expected: str) -> None:
    """The reason that Ivy gives comes with what to do, in one sentence and without its stack frames."""
    java_says.write_text(f"cat <<'END'\n{words}\nEND\nexit 1\n")
    with pytest.raises(DistributionError, match=expected) as raised:
        run_ivy(["-ivy", "x"], lambda _: None)
    assert len(str(raised.value).splitlines()) == 1


def test_user_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's settings replace ours; a path that is no file is wrong use."""
    assert settings_file(tmp_path, "own").read_text() == "own"
    mine = tmp_path / "mine.xml"
    monkeypatch.setenv("KMIGRATE_IVY_SETTINGS", str(mine))
    with pytest.raises(WrongUseError, match="KMIGRATE_IVY_SETTINGS"):
        settings_file(tmp_path, "own")
    mine.write_text("<ivysettings/>")
    assert settings_file(tmp_path, "own") == mine
