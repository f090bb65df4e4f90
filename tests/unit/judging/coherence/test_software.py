"""Nodes run the software that the header names: releases, builds by path or image, several of them, and no other."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from pytest_kmigrate.distributions.releases import locked_release
from pytest_kmigrate.judging.coherence.header import name_under_test, releases_are_named, releases_have_their_jars
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.provider import Artifact
from tests.unit.checkers.histories import event, history

RELEASE, OLDER = (Artifact(version, locked_release(version).digest()) for version in ("3.9.1", "3.8.1"))
ACME = Artifact("3.9.1", "a" * 64, "acme.aaaaaaaa")
BLUE = Artifact("3.8.1", "b" * 64, "blue.bbbbbbbb")
SNAPSHOT = Artifact("3.10.0-SNAPSHOT", "c" * 64, "mine.cccccccc")
THEIRS = Artifact("3.9.1", "")
PATH, IMAGE = "/opt/acme", "image:acme/kafka:7.1"


def started(artifact: Artifact, node: str = "broker-0", at_ms: int = 10) -> Event:
    """A node starts with this software, as nodes that we start record it."""
    return event(EventKind.NODE_STARTED, at_ms, node, kafka=artifact.version, digest=artifact.digest or None)


def installed(name: str, artifact: Artifact) -> Event:
    """A stopped node gets this software."""
    return event(EventKind.NODE_INSTALLED, 5, "broker-0", kafka=name, version=artifact.version, digest=artifact.digest)


def run(under_test: Artifact, named: Mapping[str, Artifact], *events: Event) -> History:
    """A run of a topology that names this software."""
    found = history(events=events, kafka=under_test.name)
    digests = {name: each.digest for name, each in named.items()}
    return replace(found, header=replace(found.header, extra={"distribution_digests": digests}))


FIT: dict[str, History] = {
    "a release": run(RELEASE, {"3.9.1": RELEASE}, started(RELEASE)),
    "a release by its path": run(RELEASE, {PATH: RELEASE}, started(RELEASE)),
    "a build by its path": run(ACME, {PATH: ACME}, started(ACME)),
    "a build in an image": run(ACME, {IMAGE: ACME}, started(ACME)),
    "a build whose version is no release": run(SNAPSHOT, {PATH: SNAPSHOT}, started(SNAPSHOT)),
    "a build, and a release beside it": run(
        ACME, {PATH: ACME, "3.8.1": OLDER, "3.9.1": RELEASE}, started(ACME), started(OLDER), started(RELEASE)
    ),
    "a release, and a build beside it": run(
        RELEASE, {"3.9.1": RELEASE, "/opt/blue": BLUE}, started(RELEASE), started(BLUE)
    ),
    "two builds": run(BLUE, {PATH: ACME, "/opt/blue": BLUE}, started(ACME), started(BLUE)),
    "a release by its path, and a build": run(
        RELEASE, {"/opt/kafka": RELEASE, "/opt/blue": BLUE}, started(RELEASE), started(BLUE)
    ),
    "a build that was installed later": run(RELEASE, {"3.9.1": RELEASE}, installed("/opt/blue", BLUE), started(BLUE)),
    "somebody else's cluster": run(THEIRS, {"3.9.1": THEIRS}, started(THEIRS)),
}
"""Software that a run may have."""

OTHERS: dict[str, tuple[History, str]] = {
    "another release": (run(RELEASE, {"3.9.1": RELEASE}, started(OLDER)), "starts broker-0 with Kafka 3.8.1"),
    "the release of a build": (
        run(ACME, {PATH: ACME}, started(RELEASE)),
        f"with Kafka 3.9.1 with jars of {RELEASE.digest[:12]}, but run.json has 3.9.1 with jars of aaaaaaaaaaaa",
    ),
    "a build of a release": (run(RELEASE, {"3.9.1": RELEASE}, started(ACME)), "with jars of aaaaaaaaaaaa"),
    "a build under another version": (
        run(ACME, {PATH: ACME}, started(replace(ACME, version="3.8.1"))),
        "with Kafka 3.8.1 with jars of aaaaaaaaaaaa",
    ),
    "a build that is not named": (
        run(ACME, {PATH: ACME, "3.8.1": OLDER}, started(ACME), started(BLUE, "broker-1")),
        "starts broker-1 with Kafka 3.8.1 with jars of bbbbbbbbbbbb",
    ),
    "another release of a folder without digests of nodes": (
        run(ACME, {PATH: ACME}, started(replace(OLDER, digest=""))),
        "starts broker-0 with Kafka 3.8.1, but run.json has 3.9.1",
    ),
    "another release on somebody else's cluster": (
        run(THEIRS, {"3.9.1": THEIRS}, started(replace(OLDER, digest=""))),
        "starts broker-0 with Kafka 3.8.1, but run.json has 3.9.1",
    ),
}
"""Software that it may not have, and what is found."""


@pytest.mark.parametrize("form", FIT)
def test_nodes_run_what_the_header_names(form: str) -> None:
    """Nodes record the version that their jars name, and the header a build by its own name."""
    assert list(releases_are_named(FIT[form])) == []
    assert list(releases_have_their_jars(FIT[form])) == []


@pytest.mark.parametrize(
    "form", ["a release", "a build by its path", "a build in an image", "a build whose version is no release"]
)
def test_folders_without_digests_of_nodes_go_by_the_version(form: str) -> None:
    """Recorded before nodes had them."""
    whole = FIT[form]
    older = [replace(each, data={**each.data, "digest": None}) for each in whole.events]
    assert list(releases_are_named(replace(whole, events=older))) == []


@pytest.mark.parametrize("form", OTHERS)
def test_nodes_that_run_other_software_are_found(form: str) -> None:
    """By their jars, and by their version where jars are not known."""
    other, named = OTHERS[form]
    (found,) = releases_are_named(other)
    assert named in str(found)


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("a build by its path", PATH),
        ("a build in an image", IMAGE),
        ("a release, and a build beside it", "3.9.1"),
        ("two builds", "/opt/blue"),
        ("a release by its path, and a build", "/opt/kafka"),
    ],
)
def test_what_is_under_test_is_found_by_its_jars(form: str, name: str) -> None:
    """Also beside other builds."""
    assert name_under_test(FIT[form].header) == name


def test_none_of_several_builds_is_taken_for_another() -> None:
    """The header has no digest of what it is about."""
    assert name_under_test(run(ACME, {"/opt/blue": BLUE, "/opt/mine": SNAPSHOT}).header) is None
