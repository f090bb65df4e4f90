"""Facts about tests that run once for each schedule of a file: which lines, and what is refused before the start."""

from pathlib import Path

import pytest

from pytest_kmigrate.faults.schedules.header import header_of
from pytest_kmigrate.faults.schedules.reading import read_night
from pytest_kmigrate.faults.schedules.schedule import Schedule, lines_of
from pytest_kmigrate.plugin import scheduling
from pytest_kmigrate.recording.sources import harness_digest
from pytest_kmigrate.running.carrying_out import walkable
from pytest_kmigrate.suites import kip_866

pytestmark = pytest.mark.slow

pytest_plugins = ["pytester"]
ALL = ("-p", "no:cacheprovider", "--collect-only", "-q")
QUIET = (*ALL, "--kmigrate-nightly")
SHIPPED = Path(kip_866.__file__).parent / "schedules.jsonl"
TEST = 'import pytest\n@pytest.mark.schedules("none.jsonl")\ndef test_schedule(schedule, verify): pass\n'


@pytest.fixture
def lines() -> tuple[Schedule, ...]:
    """Those that are shipped."""
    return read_night(SHIPPED, walkable).schedules


def _night(pytester: pytest.Pytester, lines: tuple[Schedule, ...], harness: str) -> str:
    header = header_of(lines, document="kip-866", seed=7, space="0" * 64, tables=None, harness=harness)
    (pytester.path / "night.jsonl").write_text(lines_of(lines, header))
    pytester.makepyfile(TEST)
    return f"--kmigrate-schedules={pytester.path / 'night.jsonl'}"


def test_each_machine_has_its_own_lines(pytester: pytest.Pytester, lines: tuple[Schedule, ...]) -> None:
    """All machines together have every line once."""
    night = _night(pytester, lines, harness_digest())
    for place in (1, 2):
        result = pytester.runpytest_inprocess(*QUIET, night, f"--kmigrate-shard={place}/2")
        output = result.stdout.str()
        assert [each.name in output for each in lines] == [(n % 2) + 1 == place for n in range(len(lines))]
        assert "drawn by another" not in output
    result = pytester.runpytest_inprocess(*QUIET, night, "--kmigrate-shard=1/99")
    result.stderr.fnmatch_lines([f"*--kmigrate-shard: expected at most {len(lines)} machines*"])
    result = pytester.runpytest_inprocess(*QUIET, night, "--kmigrate-shard=3/2")
    result.stderr.fnmatch_lines(["*--kmigrate-shard: expected I/N*"])
    result = pytester.runpytest_inprocess(*QUIET, night, f"--kmigrate-shard=1/{'9' * 5000}")
    result.stderr.fnmatch_lines(["*--kmigrate-shard: expected I/N*99...'"])


def test_a_file_whose_lines_nothing_carries_out_is_refused(
    pytester: pytest.Pytester, lines: tuple[Schedule, ...]
) -> None:
    """Without nights, or without a test for it, pytest would show a number of tests alone."""
    night = _night(pytester, lines, harness_digest())
    pytester.makepyfile(f"import pytest\npytestmark = pytest.mark.nightly\n{TEST}")
    result = pytester.runpytest_inprocess(*ALL, night)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--kmigrate-schedules: expected --kmigrate-nightly beside it*got none: add it"])
    assert pytester.runpytest_inprocess(*QUIET, night).ret == 0
    pytester.makepyfile("def test_other(verify): pass\n")
    result = pytester.runpytest_inprocess(*QUIET, night)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--kmigrate-schedules: expected a test that carries schedules out, got none*"])


def test_a_night_of_another_harness_runs_with_a_warning(pytester: pytest.Pytester, lines: tuple[Schedule, ...]) -> None:
    """Its lines are the same tests."""
    result = pytester.runpytest_inprocess(*QUIET, _night(pytester, lines, "f" * 64))
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*drawn by another version of the harness (ffffffffffff)*"])


def test_a_line_that_another_harness_could_draw_is_refused_with_what_to_do(
    pytester: pytest.Pytester, lines: tuple[Schedule, ...]
) -> None:
    """Rules of what can be change with releases; one's own mistake is no reason to draw anew."""
    advice = "night.jsonl: another version of the harness drew it, by other rules: draw it anew"
    for harness, is_advised in ((harness_digest(), False), ("f" * 64, True)):
        night = _night(pytester, lines, harness)
        file = pytester.path / "night.jsonl"
        file.write_text(file.read_text().replace('"HYBRID"', '"NEVER"'))
        scheduling._read.cache_clear()
        output = pytester.runpytest_inprocess(*QUIET, night).stderr.str()
        assert "NEVER" in output
        assert (advice in output) is is_advised


def test_a_night_of_another_document_is_refused(pytester: pytest.Pytester, lines: tuple[Schedule, ...]) -> None:
    """In one sentence, and nothing is collected."""
    night = _night(pytester, lines, harness_digest())
    result = pytester.runpytest_inprocess(*QUIET, night, "--kmigrate-profile=kip-500")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    expected = "expected schedules of --kmigrate-profile kip-500; got some of kip-866: give the file's profile"
    assert expected in result.stderr.str()
    assert "::" not in result.stdout.str()


def test_mistakes_of_a_file_are_sentences_without_a_stack(pytester: pytest.Pytester) -> None:
    """Each with its line and key."""
    (pytester.path / "mine.jsonl").write_text('{"schema": 1}\n{"schema": 2}\n')
    pytester.makepyfile(TEST)
    result = pytester.runpytest_inprocess(*QUIET, f"--kmigrate-schedules={pytester.path / 'mine.jsonl'}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*mine.jsonl: line 1: happenings: expected a list*", "*line 2: schema: expected 1; got 2*"]
    )
    assert "scheduling.py" not in result.stdout.str() + result.stderr.str()


@pytest.mark.parametrize("words", [(), ("-k", "HYBRID"), ("-n", "1")], ids=["alone", "chosen", "worker"])
def test_a_file_that_is_refused_is_no_violation(pytester: pytest.Pytester, words: tuple[str, ...]) -> None:
    """A night goes on after status 1, with which a worker's error of collection ends; 5 is no test at all."""
    (pytester.path / "mine.jsonl").write_text("[]\n")
    pytester.makepyfile(TEST)
    result = pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", "--kmigrate-nightly", "--kmigrate-schedules=mine.jsonl", *words
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.stderr.str().count("mine.jsonl: line 1: the line: expected an object") == 1


def test_a_suite_of_another_document_is_collected_beside_others(pytester: pytest.Pytester) -> None:
    """Its own file has no line of the profile that all are judged by: its test is skipped, and the others run."""
    (pytester.path / "none.jsonl").write_text(SHIPPED.read_text(encoding="utf-8"))
    pytester.makepyfile(TEST)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-rs", "--kmigrate-profile=kip-500")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*none.jsonl has no schedule of kip-500*"])
