"""What a run does to somebody's cluster is noted before it is done, and the next one undoes what was left."""

import os
from pathlib import Path

import pytest

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import ClusterError, WrongUseError
from pytest_kmigrate.model.links import Disturbance
from pytest_kmigrate.providers.attach import healing, making
from pytest_kmigrate.providers.attach import node as nodes
from pytest_kmigrate.providers.attach.file.loading import Site, site_at
from pytest_kmigrate.providers.attach.healing import heal_left, left_behind
from pytest_kmigrate.providers.attach.journal import Journal, Remove, Undo, journal_of, journals_of
from pytest_kmigrate.providers.attach.looking import Looker, Seen
from pytest_kmigrate.providers.attach.provider import AttachProvider
from tests.unit.providers.attach.files import SMALL, cluster_of, written

SAID = "echo ACTION {name} >> FOLDER/called"
LINK = {"source": "broker-0", "source_host": "b0.example", "port": "1"}
PAUSED, CUT = Undo("resume", "broker-1"), Undo("heal", "broker-1", LINK)
NOTES = (PAUSED, CUT, Undo("start", "broker-0"))
ENDED = 1
"""A process that never was one of ours."""


def site(folder: Path, more: str = "", **differs: str) -> Site:
    """One whose hooks write down that they were called."""
    actions = ("start", "stop", "kill", "pause", "resume", "cut", "heal")
    scripts = {action: SAID.replace("ACTION", action) for action in actions} | {"arrived": "echo 1"} | differs
    lines = [f"{action} = ['sh', '-c', '{text.replace('FOLDER', str(folder))}']" for action, text in scripts.items()]
    head = 'allow = ["start", "kill", "pause", "cut"]\n'
    return site_at(written(folder, head + SMALL + "\n".join(["[hooks]", more, *lines, ""])))


def called(folder: Path) -> list[str]:
    """What hooks were called for, in order."""
    file = folder / "called"
    return file.read_text().splitlines() if file.exists() else []


def killed(of: Site, *notes: Undo | Remove) -> Path:
    """What a run leaves that noted this and was killed."""
    journal = Journal(of)
    for note in notes:
        journal.note(note)
    journal.close()
    return journal_of(of, os.getpid()).rename(journal_of(of, ENDED))


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> dict[str, bool]:
    """Whether nodes answer, by name; those that are not named do."""
    answers: dict[str, bool] = {}
    monkeypatch.setattr(Looker, "seen", lambda _self, name: Seen(is_alive=answers.get(name, True)))
    return answers


def test_an_act_is_on_the_disk_before_its_hook_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook sees it there."""
    monkeypatch.setattr(nodes.AttachedNode, "stands_still", True)
    monkeypatch.setattr(nodes.AttachedNode, "alive", True)
    look = "cat FOLDER/attach.toml.harm.* >> FOLDER/called"
    of = site(tmp_path, pause=look, cut=look)
    cluster = cluster_of(of.path, Capability.PAUSE, Capability.CUTS)
    cluster.node("broker-1").pause()
    with cluster.links.disturb(cluster.links.between(["broker-0"], ["broker-1"]), Disturbance("cut")):
        paused, _, cut = called(tmp_path)
    assert '"hook": "resume", "node": "broker-1"' in paused
    assert '"hook": "heal", "node": "broker-1"' in cut
    assert journals_of(of)
    cluster.node("broker-1").resume()
    assert not journals_of(of)


def test_a_run_undoes_at_its_end_what_a_test_left(tmp_path: Path, answering: dict[str, bool]) -> None:
    """The last act first."""
    of = site(tmp_path)
    cluster = cluster_of(of.path)
    for note in NOTES:
        cluster._around.journal.note(note)
    answering["broker-0"] = False
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(healing, "_ANSWERS_WITHIN_S", 0.1)
        with pytest.raises(ClusterError, match="an answer of broker-0 after it"):
            cluster.heal()
    assert called(tmp_path) == ["start broker-0", "heal broker-1", "resume broker-1"]
    answering["broker-0"] = True
    assert heal_left(of, print) == 1
    assert not journals_of(of)


def test_the_next_run_undoes_what_a_killed_one_left(tmp_path: Path, answering: dict[str, bool]) -> None:
    """Before it asks the cluster anything; a node that was started meanwhile is not started again."""
    of = site(tmp_path)
    killed(of, *NOTES)
    with pytest.raises(ClusterError, match="expected a broker that lets us in"):
        _ = AttachProvider(of, print).asked
    assert answering == {}
    assert called(tmp_path) == ["heal broker-1", "resume broker-1"]
    assert not journals_of(of)


def test_looking_undoes_nothing(tmp_path: Path) -> None:
    """It only lists it."""
    of = site(tmp_path)
    killed(of, *NOTES)
    assert [str(each) for each in left_behind(of)] == [
        "start broker-0",
        "heal broker-1 from broker-0",
        "resume broker-1",
    ]
    with pytest.raises(ClusterError, match="expected a broker that lets us in"):
        _ = AttachProvider(of, print, heals=False).asked
    assert not called(tmp_path)


def test_what_a_run_under_way_did_is_its_own(tmp_path: Path) -> None:
    """Its journal is locked as long as its process lives."""
    of = site(tmp_path)
    journal = Journal(of)
    journal.note(PAUSED)
    assert heal_left(of, print) == 0
    assert (called(tmp_path), journal.left) == ([], (PAUSED,))
    journal.close()


def test_what_was_made_is_removed_after_nodes_answer_again(
    tmp_path: Path, answering: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was noted first, so it comes last."""
    of, made = site(tmp_path), Remove(("kmigrate-orders",), "kmigrate-kmigrate")
    killed(of, made, PAUSED)
    removed: list[object] = []
    monkeypatch.setattr(healing, "remove", lambda _site, each: removed.extend([*called(tmp_path), each]))
    said: list[str] = []
    assert heal_left(of, said.append) == 2
    assert removed == ["resume broker-1", made]
    assert said[-1].endswith("undone, as a run ended before it did so: remove kmigrate-orders, kmigrate-kmigrate")
    assert answering == {}


def test_a_hook_that_fails_is_one_line_and_the_others_are_called(tmp_path: Path, answering: dict[str, bool]) -> None:
    """What it is about stays noted, and nothing else."""
    of = site(tmp_path, heal="echo no such rule; exit 1")
    journal = killed(of, *NOTES)
    with pytest.raises(ClusterError) as raised:
        heal_left(of, print)
    assert str(raised.value) == (
        f"{of.path}: hooks.heal of broker-1: expected sh to end with 0; got 1: no such rule: "
        f"what {journal} has of it stays"
    )
    assert called(tmp_path) == ["resume broker-1"]
    assert left_behind(of) == [CUT]
    assert answering == {}


def test_a_resume_that_fails_on_a_node_that_answers_is_none(tmp_path: Path, answering: dict[str, bool]) -> None:
    """The run was killed before its hook paused anything, or the operator was faster."""
    of = site(tmp_path, resume="exit 1")
    killed(of, PAUSED)
    assert heal_left(of, print) == 1
    assert answering == {}


def test_a_cluster_that_is_gone_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its hooks end well, and no node answers."""
    monkeypatch.setattr(healing, "_ANSWERS_WITHIN_S", 0.1)
    of = site(tmp_path)
    killed(of, PAUSED)
    with pytest.raises(
        ClusterError, match=r"hooks\.resume of broker-1: an answer of broker-1 after it: not within"
    ) as e:
        heal_left(of, print)
    assert "see whether the cluster is there at all" in str(e.value)
    assert len(str(e.value).splitlines()) == 1


def test_a_hook_that_the_file_no_longer_has_is_named(tmp_path: Path, answering: dict[str, bool]) -> None:
    """With what to do by hand."""
    answering["broker-1"] = False
    of = site(tmp_path)
    killed(of, Undo("start", "broker-1"))
    bare = site_at(written(tmp_path, SMALL))
    with pytest.raises(ClusterError, match=r"hooks\.start: expected, as a run left broker-1 without it; got nothing"):
        heal_left(bare, print)


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b'{"undo": {"hook": "resume", "node": "broker-7", "more": {}}}',
        b'{"undo": {"hook": "explode", "node": "broker-1", "more": {}}}',
        b'{"undo": {"hook": "resume"}}',
        b'{"more": {"hook": "resume", "node": "broker-1", "more": {}}}',
        b"[]",
        b"\xff\x00",
        b"\x00" * 40,
    ],
)
def test_a_damaged_journal_is_one_line_and_the_rest_is_undone(
    tmp_path: Path, answering: dict[str, bool], line: bytes
) -> None:
    """What the line may mean is for a human to see."""
    of = site(tmp_path)
    journal = killed(of, PAUSED, CUT)
    journal.write_bytes(line + b"\n" + journal.read_bytes())
    with pytest.raises(ClusterError) as raised:
        heal_left(of, print)
    assert str(raised.value).startswith(f"{journal}: line 1: expected an act on a node of the attach file, or its end")
    assert str(raised.value).endswith(f"then remove {journal.name}")
    assert len(str(raised.value).splitlines()) == 1
    assert called(tmp_path) == ["heal broker-1", "resume broker-1"]
    assert answering == {}


def test_a_line_that_was_under_way_is_nothing_that_was_done(tmp_path: Path, answering: dict[str, bool]) -> None:
    """The act comes after its line."""
    of = site(tmp_path)
    journal = killed(of, PAUSED, CUT)
    journal.write_bytes(journal.read_bytes()[:-5])
    assert heal_left(of, print) == 1
    assert called(tmp_path) == ["resume broker-1"]
    assert not journals_of(of)
    assert answering == {}


def test_a_journal_that_cannot_be_written_forbids_the_act(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with the key that names another place."""
    monkeypatch.setattr(nodes.AttachedNode, "alive", True)
    of = site(tmp_path, 'journal = "nowhere/journal"')
    with pytest.raises(WrongUseError, match=r"hooks\.journal: expected to note .* got No such file or directory"):
        cluster_of(of.path, Capability.KILL).node("broker-1").kill()
    assert not called(tmp_path)


def test_a_journal_may_have_a_place_of_its_own(tmp_path: Path) -> None:
    """Where the attach file's own folder cannot be written."""
    of = site(tmp_path, 'journal = "elsewhere.harm"')
    assert journal_of(of, 7) == tmp_path / "elsewhere.harm.7"


def test_of_two_that_undo_one_does(tmp_path: Path, answering: dict[str, bool]) -> None:
    """The other one waits for it, and finds nothing."""
    of = site(tmp_path)
    killed(of, PAUSED)
    assert [heal_left(of, print), heal_left(of, print)] == [1, 0]
    assert called(tmp_path) == ["resume broker-1"]
    assert (answering, making.remove) == ({}, healing.remove)
