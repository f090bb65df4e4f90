"""Known deviations: they explain what they describe and nothing else, and are missed where they must show."""

from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.catalogue import (
    Deviation,
    all_departures,
    deviations,
    known_bug,
    met_by_any_run,
    profiles,
    requirement,
)
from pytest_kmigrate.judging.explaining import deviations_gone, explained
from pytest_kmigrate.judging.judge import judged
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import About, Kind, Outcome, Verdict
from tests.unit.checkers.histories import event, history
from tests.unit.documents.kip_866.diagnoses.naming import unmet

ROW, ID = "K866-FWD-enabled-by-version", "forwarding-needs-the-flag"
SEEN = "the answer of a broker without the flag to the creation of a topic: NOT_CONTROLLER"
OF_DEVIATION = Deviation(
    "d", ROW, "It does something else.", "^something", "exact", (">=3.4.0",), "always", "departure", 1, "None."
)


def run(kafka: str = "3.9.1", **extra: Any) -> History:
    """A run whose test claims the requirement."""
    made = history(requirements=(ROW,), kafka=kafka)
    return replace(made, header=replace(made.header, extra={**made.header.extra, **extra}))


def violated(*observed: str, requirement: str = ROW) -> Verdict:
    """A verdict that violates one requirement by these observations."""
    about = About(requirement, Outcome.VIOLATES, Kind.SAFETY, 1, "", observed)
    return Verdict("expectations_met", Outcome.VIOLATES, Kind.SAFETY, about=(about,))


def known_as(there: History, verdict: Verdict) -> tuple[str, ...]:
    """The ids it is explained by, without any diagnosis."""
    (judged,) = explained(there, [verdict], ())
    return judged.known_bugs


def test_a_violation_that_observed_the_deviation_is_known_as_it() -> None:
    """By the release that has it, and as something that any run may meet."""
    assert known_as(run(), violated(SEEN)) == (ID,)
    assert ID in [bug.id for bug in met_by_any_run("3.9.1")]
    assert known_bug(ID).area == f"departure from {ROW}"


def test_a_number_of_thousands_is_a_number() -> None:
    """As verdicts write it."""
    deviation = replace(OF_DEVIATION, observed=r"^(?P<lazy>\d+) of (?P<all>\d+) writes$", bound="lazy > all")
    assert not deviation.explains("2 592 of 1 049 000 writes")
    assert deviation.explains("1 049 000 of 2 592 writes")
    assert not deviation.explains("2 59 of 104 writes")


def test_what_is_beyond_the_bound_is_not_the_deviation() -> None:
    """Some transactions only check /migration; it is the deviation if others set it."""
    (multi,) = (each for each in deviations("kip-866") if each.id == "migration-znode-set-by-last-write-only")
    text = "44 of 44 transactions only check /migration, and {} later ones set it; the first is zxid 0x1"
    assert multi.explains(text.format(10))
    assert not multi.explains(text.format(0))


@pytest.mark.parametrize(
    ("bound", "number", "is_within"),
    [("n < 3", 2, True), ("n < 3", 3, False), ("n <= 3 and n >= 2", 1, False), ("n = 3", 3, True), ("n > 3", 3, False)],
)
def test_a_bound_compares_what_the_expression_names(bound: str, number: int, is_within: bool) -> None:
    """With another group or a constant; several comparisons hold together."""
    deviation = replace(OF_DEVIATION, observed=r"^(?P<n>\d+) of|^nothing", bound=bound)
    assert deviation.wrong_bound is None
    assert deviation.explains(f"{number} of 9") is is_within
    assert deviation.explains("nothing"), "its alternative has no number"


@pytest.mark.parametrize(
    ("there", "verdict"),
    [
        (run(), violated("the answer of a broker without the flag to the creation of a topic: UNKNOWN")),
        (run(), violated(SEEN, "it did not end")),
        (run(), violated()),
        (run(), violated(SEEN, requirement="K866-CONF-controller-zk-connect")),
        (run(kafka="4.0.0"), violated(SEEN)),
    ],
    ids=["another thing", "one more thing", "not kept", "another row", "another release"],
)
def test_nothing_else_is_known_as_it(there: History, verdict: Verdict) -> None:
    """Each observation of the requirement must be the deviation."""
    assert known_as(there, verdict) == ()


def test_a_verdict_that_violates_another_requirement_too_is_not_explained() -> None:
    """One of two is known: the whole is red."""
    both = violated(SEEN)
    other = About("K866-CONF-controller-zk-connect", Outcome.VIOLATES, Kind.SAFETY, 1, "", ("it did not end",))
    assert known_as(run(), replace(both, about=(*both.about, other))) == ()


@pytest.mark.parametrize("claimed", [(ROW,), (ROW, "K866-DW-offset-advance")])
def test_a_deviation_explains_no_expectation_beside_it(claimed: tuple[str, ...]) -> None:
    """One that names no requirement, and speaks for none that is free, is violated all the same."""
    deviating = unmet(3_000, SEEN.rpartition(": ")[0], expected="", observed="NOT_CONTROLLER", requirements=[ROW])
    other = unmet(4_000, "the acknowledged records", expected=10, observed=7)
    checks = event(EventKind.CHECKS, 5_000, checks=[{"name": "expectations_met"}])
    for events, known in (([deviating], (ID,)), ([deviating, other], ())):
        verdicts = judged(history([], [*events, checks], requirements=claimed))
        assert [each.known_bugs for each in verdicts if each.check == "expectations_met"] == [known]


def test_a_deviation_that_must_show_and_does_not_is_named() -> None:
    """The test claims the requirement, which conforms by evidence that could have violated it."""
    good = Verdict("expectations_met", Outcome.CONFORMS, about=(About(ROW, Outcome.CONFORMS, None, 1),))
    assert [each.id for each in deviations_gone(run().header, [good])] == [ID]
    vacuous = replace(good, about=(About(ROW, Outcome.INCONCLUSIVE, Kind.VACUOUS),))
    for header, verdicts in [
        (run().header, [good, violated(SEEN)]),
        (run().header, [vacuous]),
        (replace(run().header, requirements=()), [good]),
        (run(kafka="4.0.0").header, [good]),
        (run(byteman="RULE x").header, [good]),
    ]:
        assert deviations_gone(header, verdicts) == []


def test_each_deviation_is_of_a_requirement_that_deviates() -> None:
    """Of its own document, whose catalogue says that Kafka deviates; ids are used once, and by no bug."""
    ids = [each.id for each in all_departures()]
    assert len(ids) == len(set(ids))
    for profile in profiles():
        for each in deviations(profile):
            row = requirement(each.requirement)
            assert row.profile == profile
            assert row.real_kafka.startswith("deviates"), each.id
