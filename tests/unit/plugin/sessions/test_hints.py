"""Facts about what a new user meets: names that complete, and fixtures that a conftest was to bring."""

import pytest

import pytest_kmigrate

pytest_plugins = ["pytester"]
QUIET = ("-p", "no:cacheprovider")
IMPORT = "from pytest_kmigrate import checks\n\n"


def test_every_public_name_is_listed_and_there() -> None:
    """``dir`` lists what is loaded when it is first used; interactive shells complete by it."""
    assert set(pytest_kmigrate.__all__) <= set(dir(pytest_kmigrate))
    assert all(hasattr(pytest_kmigrate, name) for name in dir(pytest_kmigrate))


@pytest.mark.parametrize(
    ("test", "origin"),
    [
        (IMPORT + "def test_it(migration): pass", "suites.kip_866.fixtures"),
        ("def test_it(migration, verify): pass", "suites.kip_866.fixtures"),
        (IMPORT + "def test_it(created): pass", "fixtures"),
        (IMPORT + "def test_it(request): request.getfixturevalue('migration')", "suites.kip_866.fixtures"),
    ],
)
@pytest.mark.slow
def test_a_forgotten_conftest_is_named(pytester: pytest.Pytester, test: str, origin: str) -> None:
    """With the line that it lacks, right below what is missing."""
    pytester.makepyfile(f"{test}\n")
    result = pytester.runpytest_inprocess(*QUIET)
    line = f"*write in the conftest.py beside this test: from pytest_kmigrate.{origin} import [*]"
    result.stdout.fnmatch_lines(["*fixture '*' not found", line, "*available fixtures: *"], consecutive=True)


@pytest.mark.parametrize("test", ["def test_it(leader): pass", IMPORT + "def test_it(nowhere): pass"])
def test_a_fixture_of_somebody_else_that_is_missing_brings_no_hint(pytester: pytest.Pytester, test: str) -> None:
    """A test that has nothing to do with us, and a name that no module here has."""
    pytester.makepyfile(f"{test}\n")
    result = pytester.runpytest_inprocess(*QUIET)
    result.assert_outcomes(errors=1)
    assert "write in the conftest.py" not in result.stdout.str()
