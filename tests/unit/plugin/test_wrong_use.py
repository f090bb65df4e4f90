"""Mistakes that users make in tests: each is one clear error that names the line, and never a verdict."""

import pytest

from pytest_kmigrate.model.verdict import conforms
from tests.unit.plugin.conftest import Plant

pytest_plugins = ["pytester"]

_IMPORTS = "from pytest_kmigrate import Kill, Partition, Tamper, checks, targets, triggers\n"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "inject(Kill(targets.random_broker())); verify()",
            "inject(kill(random-broker)) in line 3 of *test_it.py: expected a block, got a fault that was made and *",
        ),
        (
            "verify(checks.no_acked_record_lost)",
            "verify: *; got checks.no_acked_record_lost without parentheses: write checks.no_acked_record_lost()",
        ),
        ("verify('no_acked_record_lost')", "verify: expected checks, *; got 'no_acked_record_lost'"),
        (
            "verify(checks.no_acked_record_lost(most=1))",
            "checks.no_acked_record_lost: expected no_acked_record_lost(*); got: got an unexpected keyword argument *",
        ),
        (
            "verify(checks.no_acked_records_lost())",
            "check: expected the name of a checker, got 'no_acked_records_lost'; did you mean \"no_acked_record_lost*",
        ),
        ("inject(Kill)", "inject: expected a fault, such as *; got the class Kill: write Kill(...)"),
        ("inject(Tamper('migration', ''))", "Tamper: path: expected a znode, such as /migration; got 'migration'"),
        ("inject(Tamper('/', ''))", "Tamper: path: expected a znode, such as /migration; got '/'"),
        ("inject('kill')", "inject: expected a fault, such as *; got 'kill'*"),
        (
            "inject(Kill('broker-1'))",
            "Kill: target: expected a target, such as *; got 'broker-1': write targets.node('broker-1')",
        ),
        (
            "inject(Kill(targets.random_broker))",
            "Kill: target: expected a target, such as *; got the function random_broker: write random_broker(...)",
        ),
        ("inject(Partition(targets.random_broker()))", "Partition: groups: expected several targets, got one: *"),
        ("inject(Partition(('broker-1', targets.random_broker())))", "Partition: groups: expected a target, *"),
        (
            "inject(Kill(targets.random_broker()), at='HYBRID')",
            "inject: at: expected a trigger, *; got 'HYBRID'*",
        ),
        (
            "expect('it', 5, equals=5)",
            "expect: it: expected something to call *, got 5: write lambda: ...",
        ),
    ],
)
def test_a_mistake_of_a_test_is_one_clear_error(
    pytester: pytest.Pytester, plant: Plant, body: str, message: str
) -> None:
    """It names what to write, and the line; there is no stack trace, and nothing conforms."""
    plant(conforms("all").by("a"))
    pytester.makepyfile(test_it=f"{_IMPORTS}def test_it(inject, verify, expect):\n    {body}; verify()\n")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([message, "test: test_it.py:3"])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("CONFORMS *")


def test_a_fault_made_after_verify_and_never_begun_is_an_error_too(pytester: pytest.Pytester, plant: Plant) -> None:
    """Nothing happened under it, whatever was judged before."""
    plant(conforms("all").by("a"))
    pytester.makepyfile(
        test_it=f"{_IMPORTS}def test_it(inject, verify):\n    verify()\n    inject(Kill(targets.random_broker()))\n"
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["inject(kill(random-broker)) in line 4 of *test_it.py: expected a block, *"])


def test_an_error_from_a_helper_names_the_line_of_the_test_that_called_it(
    pytester: pytest.Pytester, plant: Plant
) -> None:
    """Not the line of the helper, which did as it was asked."""
    plant(conforms("all").by("a"))
    pytester.makeconftest("import pytest\n@pytest.fixture\ndef judged(verify): return lambda: verify('x')\n")
    pytester.makepyfile(test_it="def test_it(judged):\n    pass\n    judged()\n")
    pytester.runpytest_inprocess("-p", "no:cacheprovider").stdout.fnmatch_lines(["test: test_it.py:3"])
