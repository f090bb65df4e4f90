"""What `make test` and `make conformance` run: samples that stand for whole suites, and whole suites."""

import ast
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import pytest_kmigrate

ROOT = Path(__file__).parents[2]
SUITES = sorted(folder for folder in (ROOT / "suites").iterdir() if any(folder.glob("test_*.py")))
FAULTS = {name for room, names in pytest_kmigrate._ROOMS.items() if room.startswith("faults.") for name in names}
ROOMS_OF_NAMES = ("targets", "triggers", "crash_points", "Phase", "migration")
NOT_SAMPLED = {
    "topology zk1-broker3": "a coordinator that crashes twice costs 70 s, and is the only thing it adds",
    "topology zk1-broker1-controller3": "a quorum that lacks a controller costs 35 s, and is the only thing it adds",
    "topology zk1-broker1-controller1-zookeeper-tls": "tests/real has the logins at ZooKeeper, and it adds only TLS",
    "topology zk1-broker3-controller1-passwords": "a migration of its own, 25 s, for one property more",
    "topology zk1-broker3-controller3-mixed": "a broker of an older release costs 73 s, and is the only thing it adds",
    "topology zk1-broker3-controller1-sasl": "tests/real has the logins, and a migration with tokens costs 110 s",
    "topology zk1-broker3-controller1-tls": "a migration and its way back, 40 s, for one more protocol",
    "Partition": "tests/real parts nodes from each other, and the test with it waits for 8,000 writes",
    "migration.await_state": "three samples finalize a migration; the test with it restarts a controller, too",
    "Tamper": "it spoils a cluster; the shortest test with it takes 25 s",
    "Forbid": "it spoils a cluster, and settling waits for a known bug for 25 s",
    "triggers.on_znode_change": "what begins with it waits for a known bug for 15 s",
    "crash_points.ABOUT_TO_CLAIM": "a migration of its own, 30 s; long-copy holds a controller in the same way",
    "crash_points.METADATA_COPIED_NOT_COMMITTED": "the same place as long-copy, held for less",
    "crash_points.COPY_NOT_BEGUN": "a migration of its own, 35 s; long-copy holds a controller in the same way",
    "crash_points.LONG_BEFORE_THE_CLAIM": "the same place as about-to-claim, held for longer",
    "crash_points.CLAIM_AWAITED": "the same place, held for 40 s",
    "crash_points.STATES_NOT_WRITTEN": "what is held there shows only in a whole migration, 110 s",
    "crash_points.TOPIC_NOT_WRITTEN": "two controllers are held for 15 s each; long-copy holds one in the same way",
    "crash_points.LATE_CONFIG": "a controller is held for 15 s; long-copy holds one in the same way",
    "crash_points.LATE_DELETION": "the same",
    "crash_points.ACL_NOT_WRITTEN": "a migration of its own, 60 s; tests/real holds a broker in the same way",
    "topology zk1-broker1-disks": "it is about releases before 3.7 only",
    "topology zk1-broker3-controller1-low": "three rolls of a cluster for one refusal cost 45 s",
    "topology kraft-broker3-controller3-upgrade": "a whole roll costs a minute, and tests/real rolls nodes already",
    **{
        f"topology kraft-broker3-controller3-from-{release}": "one more release to download; a night has them all"
        for release in ("3.3.2", "3.4.1", "3.5.2", "3.6.2", "3.7.2")
    },
    "topology kraft-broker2-controller1-behind": "nodes of an older release cost 30 s, and are the only thing it adds",
    "topology kraft-broker1-controller3-behind": "the same",
    "topology kraft-broker1-controller3": "100,000 partitions cost minutes, and only a night measures them",
    "topology kraft-broker1-controller5": "five controllers cost 20 s, and other samples lose some of three",
    "topology kraft-broker2-controller3-snapshots": "the log is cleaned once a minute",
    "topology kraft-combined1": "tests/real has combined nodes",
    "topology kraft-combined3": "the same",
    "topology kraft-broker2-controller1-tls": "tests/real has TLS and logins on every listener",
    "topology kraft-broker1-controller1-preview": "a way there and back, 25 s, and one more release to download",
    "topology kraft-broker1-controller3-low": "three elections cost 25 s, and other samples have some",
}
"""What a suite uses and its sample does not, each with the reason."""


def make(*words: str) -> subprocess.CompletedProcess[str]:
    """What `make` would do, without doing it."""
    command = ["make", "--dry-run", "--no-print-directory", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_dry_run_carries_out_nothing() -> None:
    """A recipe line with MAKE in it would be carried out, with all that it holds, by each test that looks at it."""
    lines = (ROOT / "Makefile").read_text().splitlines()
    assert [line for line in lines if line.startswith("\t") and re.search(r"\$[({]MAKE[)}]|^\t[@-]*\+", line)] == []


def test_conformance_runs_one_whole_suite_and_resumes_it() -> None:
    """Into a folder of the document and the distribution, which coverage then reads."""
    said = make("conformance", "PROFILE=kip-866", "KAFKA=/opt/my kafka").stdout
    folder = '"reports/runs/conformance/kip-866/opt_my kafka"'
    assert "suites/kip_866 --kmigrate-resume --kmigrate-profile kip-866" in said
    assert f'--kmigrate-kafka "/opt/my kafka" --kmigrate-runs {folder}' in said
    assert f"kmigrate requirements --profile kip-866 --coverage {folder}" in said
    assert " -m " not in said.partition("suites/kip_866")[2]


@pytest.mark.parametrize("profile", [[], ["PROFILE="], ["PROFILE=kip-1"]])
def test_a_profile_without_a_suite_is_told_in_one_line(profile: list[str]) -> None:
    """Before anything is installed or started, with those that have one."""
    result = make("conformance", *profile)
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    name = "".join(profile).removeprefix("PROFILE=")
    there = " ".join(suite.name.replace("_", "-") for suite in SUITES)
    assert f"PROFILE: expected a document that has a suite ({there}), got '{name}'" in line
    assert result.stdout == ""


def test_a_document_is_judged_by_the_runs_of_the_one_it_builds_on() -> None:
    """Both suites are run, each by its own document, and coverage reads both folders."""
    said = make("conformance", "PROFILE=kip-866-draft").stdout
    folders = [f'"reports/runs/conformance/{each}/3.9.1"' for each in ("kip-866", "kip-866-draft")]
    for suite, folder in zip(("kip_866", "kip_866_draft"), folders, strict=True):
        assert f"suites/{suite} --kmigrate-resume --kmigrate-profile {suite.replace('_', '-')} " in said
        assert f"--kmigrate-runs {folder}" in said
    assert f"kmigrate requirements --profile kip-866-draft --coverage {folders[0]} --coverage {folders[1]}" in said


def test_the_gate_runs_all_real_tests_and_every_sample() -> None:
    """Both by their markers, in one pytest, so that two clusters stand side by side to the end."""
    said = make("test").stdout
    assert '-m "real or sample" tests/real suites' in said
    words = " ".join(said.replace("\\\n", " ").split())
    assert "-m sample suites/kip_866_draft --kmigrate-profile kip-866-draft" in words


def test_the_night_visits_every_crash_point() -> None:
    """Once: what is marked nightly, of which a run of a suite leaves out all."""
    said = make("nightly").stdout
    for suite in SUITES:
        profile = suite.name.replace("_", "-")
        assert said.count(f"suites/{suite.name} --kmigrate-profile {profile} --kmigrate-nightly -m nightly") == 1


def test_samples_use_every_stimulus_of_the_suites() -> None:
    """Every fault, target, trigger, crash point, phase, topology, and everything done with the migration."""
    used, sampled = set[str](), set[str]()
    for file in (file for suite in SUITES for file in suite.glob("test_*.py")):
        for test, is_sampled in stimuli_of(ast.parse(file.read_text(encoding="utf-8"))):
            used |= test
            sampled |= test if is_sampled else set()
    assert used - sampled == NOT_SAMPLED.keys()


def stimuli_of(module: ast.Module) -> Iterator[tuple[set[str], bool]]:
    """The stimuli of each test of a file, or of each of its parameters, and whether that is in the sample."""
    named = {name: statement for statement in module.body for name in _names_of(statement)}
    shared = _stimuli(named["pytestmark"], {}) if "pytestmark" in named else set()
    for statement, of_class in _tests_of(module):
        if statement.name.startswith("test_"):
            body = _stimuli(ast.Module(statement.body, []), named) | shared
            body = body.union(*(_stimuli(each, named) for each in of_class))
            of_all = body.union(*(_stimuli(each, named) for each in statement.decorator_list))
            yield of_all, any(ast.unparse(each) == "pytest.mark.sample" for each in statement.decorator_list)
            yield from ((body | _stimuli(each, named), True) for each in _sampled_parameters(statement))


def _tests_of(module: ast.Module) -> Iterator[tuple[ast.FunctionDef, Sequence[ast.expr]]]:
    """Functions, and methods of classes with the decorators of their class."""
    for statement in module.body:
        if isinstance(statement, ast.FunctionDef):
            yield statement, ()
        if isinstance(statement, ast.ClassDef):
            yield from (
                (each, statement.decorator_list) for each in statement.body if isinstance(each, ast.FunctionDef)
            )


def _sampled_parameters(test: ast.FunctionDef) -> Iterator[ast.expr]:
    for decorator in test.decorator_list:
        for node in ast.walk(decorator):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.param":
                marks = [ast.unparse(each.value) for each in node.keywords if each.arg == "marks"]
                yield from node.args if "pytest.mark.sample" in marks else ()


def _names_of(statement: ast.stmt) -> Iterator[str]:
    """What a statement of a module defines."""
    if isinstance(statement, ast.FunctionDef):
        yield statement.name
    for target in getattr(statement, "targets", ()):
        yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _stimuli(tree: ast.AST, named: dict[str, ast.stmt]) -> set[str]:
    """What is done to a cluster, through what else the module names, too."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in FAULTS:
            found.add(node.id)
        elif isinstance(node, ast.Name) and node.id in named:
            elsewhere = {name: statement for name, statement in named.items() if name != node.id}
            found |= _stimuli(named[node.id], elsewhere)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in ROOMS_OF_NAMES:
            found.add(ast.unparse(node))
        elif isinstance(node, ast.Call) and node.args and ast.unparse(node.func) == "pytest.mark.topology":
            found.add(f"topology {ast.literal_eval(node.args[0])}")
    return found


def test_what_a_sample_leaves_out_is_seen() -> None:
    """A fault in a helper or a parameter counts as in the test itself; one marked parameter samples that one only."""
    module = ast.parse(
        """
WORST = Slow(targets.quorum_leader())

def _helped(inject):
    with inject(WORST): pass

@pytest.mark.sample
@pytest.mark.topology("small")
def test_one(inject): _helped(inject)

@pytest.mark.topology("shared")
class TestScene:
    @pytest.mark.sample
    def test_in_a_scene(self, inject): inject(Cut())

@pytest.mark.parametrize("fault", [Kill(), pytest.param(Pause(), marks=pytest.mark.sample)])
def test_two(migration): migration.advance_to(Phase.HYBRID)
"""
    )
    assert list(stimuli_of(module)) == [
        ({"Slow", "targets.quorum_leader", "topology small"}, True),
        ({"topology shared", "Cut"}, True),
        ({"Kill", "Pause", "migration.advance_to", "Phase.HYBRID"}, False),
        ({"Pause", "migration.advance_to", "Phase.HYBRID"}, True),
    ]
