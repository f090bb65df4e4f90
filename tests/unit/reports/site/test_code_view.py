"""Facts about the page of Kafka's code."""

from pytest_kmigrate.reports.site.code import code
from pytest_kmigrate.reports.site.views import Site
from pytest_kmigrate.reports.summary.rows import Row
from pytest_kmigrate.reports.summary.summary import summary_of
from tests.unit.reports.fabricated_tables import ABOUT


def _class(name: str, lines: int, never: list[int], **more: object) -> Row:
    counts = {"lines": lines, "executed": lines - len(never), "never": never, "methods": 3, "executed_methods": 2}
    of = {"profile": "kip-866", "kafka": "3.9.1", "class": name, "source": "A.java", "never_methods": ["close()V"]}
    return {**of, **counts, "tests": 2, "other_files": 0, **more}


def _content(*rows: Row) -> str:
    return code(Site(summary_of({"exercised_classes": [*rows]}, ABOUT))).content


def test_lines_that_were_never_executed_are_spans_and_the_worst_class_comes_first() -> None:
    """Packages are added up; a method that never was has its name."""
    content = _content(_class("org.acme.A", 10, [7]), _class("org.acme.B", 10, [1, 2, 3, 9]))
    assert content.index("1-3, 9") < content.index(">7<")
    assert content.count("75%") == 1
    assert "1 of 3 methods never" in content
    assert "<code>close</code>" in content


def test_functions_without_a_name_are_shown_as_the_method_they_stand_in() -> None:
    """Once: Scala makes several of one."""
    made = ["$anonfun$run$1$adapted(I)V", "$anonfun$run$1(I)V", "lambda$poll$12()V", "close()V"]
    content = _content(_class("org.acme.A", 10, [7], never_methods=made))
    assert "4 of 3 methods never" in content
    assert "<code>close</code>, <code>poll</code>, <code>run</code>" in content


def test_data_of_other_class_files_are_said_to_be_left_out() -> None:
    """Their numbers would name other lines."""
    reported = "data of 4 runs left out, as it is of another class file"
    assert reported in _content(_class("org.acme.A", 10, [], other_files=4))


def test_without_any_the_page_has_the_option() -> None:
    """So that a reader finds it."""
    assert "--kmigrate-exercise" in _content()


def _mutant(name: str, fate: str | None, test: str | None, *requirements: str) -> Row:
    of = {"profile": "kip-866", "kafka": "3.9.1", "seed": 1, "mutant": name, "method": "poll()V", "change": "negated <"}
    return {**of, "fate": fate, "test_id": test, "requirements": [*requirements]}


def test_generated_defects_have_their_score_and_those_that_were_not_noticed() -> None:
    """One that any test noticed is none of these, nor is an equivalent one, nor one that was not tried yet."""
    of = {"profile": "kip-866", "kafka": "3.9.1"}
    counts = {"seed": 1, "drawn": 5, "tried": 4, "counted": 2, "noticed": 1, "never_executed": 0}
    rows = [_mutant("M.killed", "survived", "m::one"), _mutant("M.killed", "killed", "m::two", "K1")]
    rows += [_mutant("M.survived", "survived", "m::one"), _mutant("M.survived", "excused", "m::two")]
    rows += [_mutant("M.equal", "equivalent", None), _mutant("M.later", None, None)]
    tables = {
        "mutation_scores": [{**of, **counts, "share": 0.5, "share_low": 0.09, "share_high": 0.91}],
        "mutation_requirements": [{**of, "requirement": "K1", "mutants": 1, "alone": 1}],
        "mutation": rows,
    }
    content = code(Site(summary_of(tables, ABOUT))).content
    assert "9% to 91%" in content
    assert "K1" in content
    assert "M.survived" in content
    assert "poll: negated &lt;" in content
    assert "one, two" in content
    assert not [each for each in ("M.killed", "M.equal", "M.later") if each in content]
