"""Facts about which test it is: by module and name, however pytest was asked for it, and how it is asked for again."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate import suites
from pytest_kmigrate.plugin.identity import identity_of, words_for
from pytest_kmigrate.recording.sessions import Session, begin_session, note_run
from tests.test_house_rules import ROOT
from tests.unit.reports.recorded_runs import HEADER

pytest_plugins = ["pytester"]
MODULE = "pytest_kmigrate.suites.kip_866.test_transactions"
TEST = f"{MODULE}::test_transactions_are_whole_or_absent_after_the_migration"
FILE = "kip_866/test_transactions.py"


@pytest.mark.parametrize(
    "words",
    [
        ("--pyargs", MODULE),
        (str(ROOT / "suites" / FILE),),
        (str(Path(suites.__path__[0]) / FILE), "--import-mode=importlib"),
        (str(ROOT / "pytest_kmigrate/suites" / FILE), "--rootdir", str(ROOT / "suites/kip_866")),
    ],
)
def test_a_test_of_a_suite_is_one_wherever_it_is_found(pytester: pytest.Pytester, words: tuple[str, ...]) -> None:
    """In the package and in a checkout, from any folder; it is asked for by its module, which is found anywhere."""
    (item,), _ = pytester.inline_genitems("-p", "no:cacheprovider", *words)
    assert identity_of(item) == TEST
    assert words_for(item) == ("--pyargs", TEST)


@pytest.mark.parametrize("start", [".", "trials", "other"])
@pytest.mark.parametrize("options", [(), ("--rootdir", "/")])
@pytest.mark.slow
def test_a_test_of_a_user_is_one_wherever_pytest_was_started(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, start: str, options: tuple[str, ...]
) -> None:
    """Its module is not asked of the root folder; the words for it lead there from where pytest was started."""
    for folder in ("trials/mine", "other"):
        (pytester.path / folder).mkdir(parents=True)
    for package in ("trials", "trials/mine"):
        (pytester.path / package / "__init__.py").touch()
    file = pytester.path / "trials/mine/test_it.py"
    text = (
        "import pytest\n\nclass TestAll:\n    @pytest.mark.parametrize('x', ['a::b'])\n    def test_it(self, x): pass\n"
    )
    file.write_text(text)
    monkeypatch.chdir(pytester.path / start)
    (item,), _ = pytester.inline_genitems("-p", "no:cacheprovider", str(file), *options)
    assert identity_of(item) == "trials.mine.test_it::TestAll::test_it[a::b]"
    assert words_for(item) == (f"{os.path.relpath(file)}::TestAll::test_it[a::b]",)
    pytester.runpytest_inprocess("-p", "no:cacheprovider", *words_for(item)).assert_outcomes(passed=1)


@pytest.mark.parametrize(("words", "ended"), [((), "os.getpid()"), (("-n", "1"), "os.getppid()")])
@pytest.mark.slow
def test_runs_that_were_interrupted_are_named(pytester: pytest.Pytester, words: tuple[str, ...], ended: str) -> None:
    """They have no report; those of an earlier session are not among them."""
    runs = pytester.path / "runs"
    begin_session(runs, Session("earlier"))
    note_run(runs, replace(HEADER, run_id="run-1", extra={"session": "earlier"}))
    # A process that a script starts in the background ignores the signal.
    pytester.makeconftest("import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n")
    pytester.makepyfile(
        f"""
        import os, signal
        from dataclasses import replace
        from pathlib import Path

        from pytest_kmigrate.plugin.identity import begun_session
        from pytest_kmigrate.recording.sessions import note_run
        from tests.unit.reports.recorded_runs import HEADER

        def test_it(request):
            session = begun_session(request.node, Path("runs"), lambda: ["t"])
            note_run(Path("runs"), replace(HEADER, run_id="run-2", extra={{"session": session.id}}))
            os.kill({ended}, signal.SIGINT)
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--kmigrate-runs", "runs", *words)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*kmigrate runs interrupted*", "runs/run-2", "*kmigrate judge*"], consecutive=True)
