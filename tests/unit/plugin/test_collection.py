"""Facts about what is refused at collection: markers and options that cannot be, before anything is downloaded."""

import pytest

from pytest_kmigrate.topology.loading import find

pytestmark = pytest.mark.slow
pytest_plugins = ["pytester"]


@pytest.mark.parametrize(
    ("marker", "reported"),
    [
        ("topology", "marker topology: expected one text, got nothing: write @pytest.mark.topology(*)"),
        ("topology('a', 'b')", "marker topology: expected one text, got 'a', 'b': *"),
        ("topology('a', brokers=-1)", "marker topology: expected one text, got 'a', brokers=-1: *"),
        ("topology(file='a')", "marker topology: expected one text, got file='a': *"),
        (
            "topology('zk1-broker33')",
            'marker topology: expected a file, relative to *.py, * did you mean "zk1-broker3"[?]',
        ),
        ("topology('')", "marker topology: expected a file, relative to *.py, or the name of *; got ''"),
        ("topology('./mine.toml')", "marker topology: expected a file, *; got './mine.toml'"),
        ("topology('mine')", "marker topology: expected a file, *; got 'mine'; shipped topologies: kraft-*"),
        ("known_bug", "marker known_bug: expected one text, got nothing: write @pytest.mark.known_bug(*)"),
        ("known_bug(1)", "marker known_bug: expected one text, got 1: *"),
        ("since('soon')", 'expected a release of Kafka such as "3.7.0", got "soon"'),
        ("starts_at", "marker starts_at: expected a state, and filled=True or nothing, got nothing: write *"),
        ("starts_at('COPYING')", "marker starts_at: expected one of HYBRID, ALL_KRAFT; got COPYING"),
        ("starts_at('HYBRID', True)", "marker starts_at: *, got 'HYBRID', True: write *"),
        ("starts_at('HYBRID', filled='no')", "marker starts_at: *, got 'HYBRID', filled='no': write *"),
        ("starts_at('HYBRID', full=True)", "marker starts_at: *, got 'HYBRID', full=True: write *"),
        (
            "starts_at('HYBRID')\n@pytest.mark.topology('kraft-broker3-controller3')",
            "HYBRID: expected a topology to migrate, with ZooKeeper and controllers; *",
        ),
        ("start_condition", "marker start_condition: expected znodes, got nothing: write *"),
        ("start_condition('/migration')", "marker start_condition: expected znodes, got '/migration': write *"),
        (
            "start_condition(Znode('/migration'))\n@pytest.mark.starts_at('HYBRID')",
            "marker start_condition: expected no marker starts_at: znode /migration without data is there *",
        ),
        (
            "start_condition(Znode('/migration', ''))\n@pytest.mark.topology('kraft-broker3-controller3')",
            "marker start_condition: expected a topology with ZooKeeper, and kraft-broker3-controller3 has none: *",
        ),
        ("start_condition(Znode('migration'))", "marker start_condition: * got Znode(path='migration', data=None)"),
        ("start_condition(Znode('/'))", "marker start_condition: * a path such as /migration, *"),
        ("start_condition(Znode('/a', data=5))", "marker start_condition: *, text or None as data; got *data=5)"),
        ("start_condition(Znode('/a'), Znode('/a', ''))", "marker start_condition: expected each znode once, *"),
        ("spoils(5)", "marker spoils: expected no arguments, got 5: write @pytest.mark.spoils"),
        ("sample('a')", "marker sample: expected no arguments, got 'a': write @pytest.mark.sample"),
        ("requirement", "marker requirement: expected texts, got nothing: write @pytest.mark.requirement(*)"),
    ],
)
def test_a_wrong_marker_is_told_with_its_test(pytester: pytest.Pytester, marker: str, reported: str) -> None:
    """A usage error of one sentence; no test runs, and no stack trace is shown."""
    pytester.makepyfile(
        f"import pytest\nfrom pytest_kmigrate import Znode\n\n@pytest.mark.{marker}\ndef test_it(topology): pass\n"
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: *::test_it: {reported}"])
    assert "Traceback" not in result.stderr.str()


@pytest.mark.parametrize(
    ("option", "value", "reported"),
    [
        ("kafka", "4.0.0", "expected a release before 4.0.0 *"),
        ("kafka", "/no/such/folder", "expected a release, or the path of an unpacked Kafka *"),
        ("runs", "file", "expected a folder to put run folders in, got file, but */file is a file: name another"),
    ],
)
def test_a_wrong_option_is_told_once_for_all_tests(
    pytester: pytest.Pytester, option: str, value: str, reported: str
) -> None:
    """Before anything is downloaded or started, and not at the setup of each test."""
    pytester.makepyfile("def test_one(cluster): pass\n\ndef test_two(cluster): pass\n")
    (pytester.path / "file").touch()
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", f"--kmigrate-{option}", value)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: *::test_one: --kmigrate-{option}: {reported}"])
    assert "test_two" not in result.stderr.str()


def test_tests_that_need_no_cluster_of_ours_are_left_alone(pytester: pytest.Pytester) -> None:
    """One that uses none, and one whose suite has a topology of its own, mind no option that is for clusters."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def topology():
            return "my own"

        def test_none(): pass

        def test_own(topology):
            assert topology == "my own"
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--kmigrate-kafka", "4.0.0")
    result.assert_outcomes(passed=2)


@pytest.mark.parametrize(("kafka", "is_run"), [("3.6.2", False), ("3.7.0", True), ("3.9.1", True)])
def test_what_an_older_release_does_not_have_is_skipped_there(
    pytester: pytest.Pytester, kafka: str, is_run: bool
) -> None:
    """With the reason; from the release on that has it the test runs."""
    pytester.makepyfile("import pytest\n\n@pytest.mark.since('3.7.0')\ndef test_it(topology): pass\n")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-rs", "--kmigrate-kafka", kafka)
    result.assert_outcomes(passed=int(is_run), skipped=int(not is_run))
    if not is_run:
        reported = f"SKIPPED*is about what Kafka has since 3.7.0, and --kmigrate-kafka is {kafka}"
        result.stdout.fnmatch_lines([reported])


def test_what_a_newer_release_does_not_have_is_skipped_there(pytester: pytest.Pytester) -> None:
    """From the release on that lacks it."""
    pytester.makepyfile("import pytest\n\n@pytest.mark.until('4.0.0')\ndef test_it(topology): pass\n")
    old = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--kmigrate-kafka", "3.9.1")
    old.assert_outcomes(passed=1)
    new = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-rs", "--kmigrate-kafka", "4.0.0")
    new.stdout.fnmatch_lines(["SKIPPED*is about what Kafka has until 4.0.0, and --kmigrate-kafka is 4.0.0"])


def test_the_nearest_topology_counts(pytester: pytest.Pytester) -> None:
    """The function's before its class's, and a class's before that of the class it is derived from."""
    pytester.makepyfile(
        """
        import pytest

        pytestmark = pytest.mark.topology("zk3-broker3-controller3")

        def test_of_the_module(topology):
            assert topology.name == "zk3-broker3-controller3"

        @pytest.mark.topology("zk1-broker3-controller1")
        class TestBase:
            def test_of_a_class(self, topology):
                assert topology.name == "zk1-broker3-controller1"

            @pytest.mark.topology("kraft-broker3-controller3")
            def test_of_its_own(self, topology):
                assert topology.name == "kraft-broker3-controller3"

        @pytest.mark.topology("zk1-broker3-controller3")
        class TestDerived(TestBase):
            def test_of_a_class(self, topology):
                assert topology.name == "zk1-broker3-controller3"
        """
    )
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=5)


def test_two_topologies_on_one_test_are_refused(pytester: pytest.Pytester) -> None:
    """Which one is meant is unknown."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.topology("zk1-broker3-controller1")
        @pytest.mark.topology("zk3-broker3-controller3")
        def test_it(topology): pass
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    reported = (
        "marker topology: expected one on a test, got 'zk3-broker3-controller3', 'zk1-broker3-controller1': leave one"
    )
    result.stderr.fnmatch_lines([f"ERROR: *::test_it: {reported}"])


@pytest.mark.parametrize("scheduling", ["load", "loadgroup", "each", "worksteal"])
def test_with_workers_pytest_ends_as_without(pytester: pytest.Pytester, scheduling: str) -> None:
    """Wrong use is status 4 and one error, no test runs, and nothing is shown of how workers ended."""
    pytester.makepyfile("def test_one(cluster): pass\ndef test_other(): pass\n")
    words = ("-p", "no:cacheprovider", "-n", "2", "--dist", scheduling, "--kmigrate-topology", "zk1-brokr3")
    result = pytester.runpytest_subprocess(*words)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.assert_outcomes()
    result.stderr.fnmatch_lines(["ERROR: *::test_one: zk1-brokr3: expected *did you mean*"])
    assert result.stderr.str().count("expected a topology file") == 1
    assert "INTERNALERROR" not in result.stdout.str()


def test_the_status_of_workers_stands_where_nothing_is_refused(pytester: pytest.Pytester) -> None:
    """A test that fails is status 1."""
    pytester.makepyfile("def test_one(topology): assert not topology\n")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-n", "2")
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_test_that_is_skipped_refuses_nobody(pytester: pytest.Pytester) -> None:
    """Its topology may not be there yet, or not fit the release; others run."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.skip(reason="not yet")
        @pytest.mark.topology("not-yet.toml")
        def test_later(cluster): pass

        def test_now(): pass
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, skipped=1)


def test_a_path_in_a_marker_is_relative_to_the_file_of_the_test(pytester: pytest.Pytester) -> None:
    """Wherever pytest is started: a suite is called from its own folder, from above and from an editor."""
    suite = pytester.mkdir("suite")
    shape = find("zk1-broker3-controller1").read_text().replace("zk1-broker3-controller1", "of-my-own")
    suite.joinpath("of-my-own.toml").write_text(shape)
    suite.joinpath("test_it.py").write_text(
        "import pytest\n"
        '@pytest.mark.topology("of-my-own.toml")\n'
        "def test_it(topology): assert topology.name == 'of-my-own'\n"
    )
    for start in (pytester.path, suite, pytester.mkdir("elsewhere")):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(start)
            result = pytester.runpytest_inprocess("-p", "no:cacheprovider", str(suite / "test_it.py"))
            result.assert_outcomes(passed=1)


def test_a_test_that_migrates_needs_a_topology_that_can(pytester: pytest.Pytester) -> None:
    """It is refused before any cluster is started."""
    pytester.makeconftest("from pytest_kmigrate.suites.kip_866.fixtures import *")
    pytester.makepyfile(
        'import pytest\n@pytest.mark.topology("kraft-broker3-controller3")\ndef test_it(workload, migration): pass\n'
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*::test_it: PREPARING: expected a topology to migrate, * has no zookeeper: *"])


def test_a_refusal_names_the_line_of_the_test(pytester: pytest.Pytester) -> None:
    """Terminals and editors open it."""
    pytester.makepyfile("import pytest\n\n@pytest.mark.topology()\ndef test_it(topology): pass\n")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.stderr.fnmatch_lines(["ERROR: test_a_refusal_names_*.py:3: *::test_it: marker topology: *"])


@pytest.mark.parametrize(
    ("options", "outcomes"), [((), {"passed": 1, "deselected": 1}), (("--kmigrate-nightly",), {"passed": 2})]
)
def test_what_is_for_the_night_runs_when_it_is_asked_for(
    pytester: pytest.Pytester, options: tuple[str, ...], outcomes: dict[str, int]
) -> None:
    """Otherwise pytest counts it as deselected."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("place", ["here", pytest.param("there", marks=pytest.mark.nightly)])
        def test_it(place, topology): pass
        """
    )
    pytester.runpytest_inprocess("-p", "no:cacheprovider", *options).assert_outcomes(**outcomes)
