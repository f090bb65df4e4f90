"""The page of code that no test executes."""

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_kmigrate.catalogue import profiles
from pytest_kmigrate.distributions.class_names import method_of
from pytest_kmigrate.reports.generated.unexecuted import Unexecuted, main, page, reason_of, reasons

DRIVER = "org.apache.kafka.metadata.migration.KRaftMigrationDriver"


def line(number: int, method: str, tests: Sequence[str] = (), of: str = DRIVER) -> dict[str, Any]:
    """A row of the table ``exercised``."""
    return {"class": of, "method": method, "line": number, "runs": len(tests), "tests": list(tests)}


ROWS = [line(1, "poll()V", ["a", "b"]), line(2, "poll()V"), line(9, "close()V"), line(9, "lambda$close$3()V")]
ROWS += [line(3, "$anonfun$poll$1(I)Ljava/lang/String;"), line(4, "toString()Ljava/lang/String;")]
ROWS += [line(1, "$anonfun$copied$1()V"), line(5, "lambda$poll$4()V")]
ROWS += [line(7, "run()V", of="org.acme.A"), line(8, "run()V", ["a"], of="org.acme.B")]


def test_a_method_without_any_executed_function_has_its_reason() -> None:
    """Texts for the log and what a language demands are no methods that anybody would test."""
    text = page("kip-866", "3.9.1", ROWS)
    assert "that 2 tests of kip-866 execute" in text
    assert "**2 of 8 lines (25%)**" in text
    assert f"| `{DRIVER}` | 6 | 1 | 17% |" in text
    assert "| `KRaftMigrationDriver.close` | 9 | runs while a controller ends, when nothing can be read" in text
    assert "| `A.run` | 7 | no reason is on file |" in text
    assert "toString" not in text
    assert "| `KRaftMigrationDriver.poll (a function in it)` | 5 | no reason is on file |" in text
    assert text.count("| `KRaftMigrationDriver.") == 2
    assert text.index("`org.acme.A`") < text.index(f"`{DRIVER}`") < text.index("`org.acme.B`")


def test_the_first_row_that_names_a_method_counts() -> None:
    """So that a wide pattern may stand after the narrow ones."""
    known = [Unexecuted("a.B.run*", "first"), Unexecuted("a.B.*", "second")]
    assert reason_of(known, "a.B", "runAll") == known[0]
    assert reason_of(known, "a.B", "close") == known[1]
    assert reason_of(known, "a.C", "close") is None


def test_reasons_of_every_document_can_be_read() -> None:
    """Those of a document without any are none."""
    assert {profile for profile in profiles() if reasons(profile)} == {"kip-500", "kip-778", "kip-866"}


def test_tables_without_executed_lines_are_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    """In one sentence, with what makes them."""
    assert main("kip-866", "3.9.1", "/nowhere") == 2
    assert "kmigrate analyze" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("function", "method"),
    [
        ("lambda$poll$12()V", "poll"),
        ("$anonfun$run$1$adapted(I)V", "run"),
        ("close()V", "close"),
        ("a$default$1()I", "a$default$1"),
    ],
)
def test_a_function_without_a_name_is_in_a_method(function: str, method: str) -> None:
    """As the compilers of Java and Scala name them."""
    assert method_of(function) == method
