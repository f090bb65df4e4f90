"""A verdict per requirement: each by its own evidence, and none where nothing could have violated it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_kmigrate.judging.judge import judge
from pytest_kmigrate.judging.speaking import UNSPOKEN
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import Check, CheckersByName, always, by_name, checker, speaking
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import (
    About,
    Kind,
    Outcome,
    Verdict,
    Violation,
    conforms,
    inconclusive,
    not_applicable,
    violates,
)
from tests.unit.checkers.histories import event, history

RED = [Violation("a", "b")]


@checker()
def general_one(_: History) -> Verdict:
    """Declares nothing."""
    return conforms("all is well").by("general_one")


@checker("K0-MINE", "K0-OTHER")
def of_the_document(_: History) -> Verdict:
    """Declares two, and judges them alike."""
    return violates(Kind.SAFETY, RED).by("of_the_document")


@checker("K0-PASSIVE", in_every_run=always)
def in_each_run(_: History) -> Verdict:
    """Judged unasked."""
    return conforms("seen").by("in_each_run")


@checker("K0-SEEN", "K0-UNSEEN", in_every_run=always)
def one_of_two(_: History) -> Verdict:
    """Looks at one of its two."""
    return conforms("seen").by("one_of_two").speaking_for("K0-SEEN")


KNOWN: CheckersByName = by_name([general_one, of_the_document, in_each_run, one_of_two])


def outcomes(*asked: str, claimed: tuple[str, ...] = (), known: CheckersByName = KNOWN) -> dict[tuple[str, str], str]:
    """(check, requirement) -> outcome, "vacuous" where nothing was looked at."""
    verdicts = judge(history(requirements=claimed), [Check(name) for name in asked], known)
    return {
        (verdict.check, each.requirement): "vacuous" if each.is_vacuous else each.outcome.name
        for verdict in verdicts
        for each in verdict.about
    }


def test_a_red_check_leaves_the_other_requirements_of_its_test_as_they_are() -> None:
    """Red are the two it declares; what the test claims besides is judged by the checks that declare nothing."""
    found = outcomes("general_one", "of_the_document", claimed=("K0-MINE", "K0-FREE", "K0-PASSIVE"))
    assert {key: reported for key, reported in found.items() if "SEEN" not in key[1]} == {
        ("general_one", "K0-FREE"): "CONFORMS",
        ("of_the_document", "K0-MINE"): "VIOLATES",
        ("of_the_document", "K0-OTHER"): "VIOLATES",
        ("in_each_run", "K0-PASSIVE"): "CONFORMS",
    }


def test_every_run_judges_what_needs_no_stimulus_unasked() -> None:
    """Also where no test claims it; the verdict says that it was not asked for."""
    verdicts = judge(history(), [Check("general_one")], KNOWN)
    assert [(each.check, each.standing) for each in verdicts] == [
        ("general_one", False),
        ("in_each_run", True),
        ("one_of_two", True),
    ]
    assert verdicts[0].about == ()


def test_a_requirement_that_was_not_looked_at_is_inconclusive() -> None:
    """Its check holds, by something else."""
    found = outcomes()
    assert found["one_of_two", "K0-SEEN"] == "CONFORMS"
    assert found["one_of_two", "K0-UNSEEN"] == "vacuous"


def test_a_general_claim_speaks_for_a_requirement_only_where_a_run_could_violate_it() -> None:
    """Bound twice: of a run without events the first binding says nothing, the second one does."""
    bound = speaking(general_one, "K0-EVENTS", where=lambda run: bool(run.events))
    known = by_name([speaking(bound, "K0-ANY")])
    assert outcomes("general_one", known=known) == {
        ("general_one", "K0-EVENTS"): "vacuous",
        ("general_one", "K0-ANY"): "CONFORMS",
    }
    [verdict] = judge(history(events=[event(EventKind.RUN_BEGAN)]), [Check("general_one")], known)
    assert verdict.requirements == ("K0-EVENTS", "K0-ANY")


def test_a_claim_that_nothing_could_have_violated_is_inconclusive() -> None:
    """A general claim does not stand in for a check that the requirement has of its own."""
    [unspoken] = [
        each
        for each in judge(history(requirements=("K0-UNSEEN", "K0-PASSIVE")), [Check("general_one")], KNOWN)
        if each.check == UNSPOKEN
    ]
    assert (unspoken.outcome, unspoken.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    assert unspoken.summary == "nothing in this run could have violated K0-UNSEEN, which its test claims"
    assert unspoken.requirements == ()


def test_expectations_speak_for_what_they_name_or_for_what_nothing_else_speaks_for() -> None:
    """One is not met and names one; the other is met and names none: it is no evidence of what a check declares."""
    from pytest_kmigrate.checkers.run.steps import expectations_met  # noqa: PLC0415 - beside its only use

    reported = {"expected": 1, "observed": 2, "kind": "SAFETY", "within_s": 1}
    run = history(
        events=[
            Event(
                0, 1, EventKind.EXPECTATION, None, {**reported, "name": "a", "met": False, "requirements": ["K0-MINE"]}
            ),
            Event(0, 2, EventKind.EXPECTATION, None, {**reported, "name": "b", "met": True}),
        ],
        requirements=("K0-MINE", "K0-FREE", "K0-PASSIVE"),
    )
    known = by_name([expectations_met, in_each_run])
    [verdict] = [each for each in judge(run, [], known) if each.check == "expectations_met"]
    assert [(each.requirement, each.outcome) for each in verdict.about] == [
        ("K0-MINE", Outcome.VIOLATES),
        ("K0-FREE", Outcome.CONFORMS),
    ]


@checker(needs=[Capability.TRAFFIC])
def of_traffic(_: History) -> Verdict:
    """What clients saw."""
    return conforms("all was read").by("of_traffic")


@checker()
def of_the_point(_: History) -> Verdict:
    """What the test is about."""
    return violates(Kind.SAFETY, RED).by("of_the_point")


def test_what_clients_saw_is_no_evidence_where_the_test_asks_for_something_else() -> None:
    """A claim that no check owns is the point's: traffic that went on neither holds it up nor counts for it."""
    known = by_name([of_traffic, of_the_point])
    found = outcomes("of_traffic", "of_the_point", claimed=("K0-FREE",), known=known)
    assert found == {("of_the_point", "K0-FREE"): "VIOLATES"}
    assert outcomes("of_traffic", claimed=("K0-FREE",), known=known) == {("of_traffic", "K0-FREE"): "CONFORMS"}


def test_what_clients_saw_is_no_evidence_beside_an_expectation() -> None:
    """The expectation names no requirement: it speaks for what the test claims, and the traffic does not."""
    from pytest_kmigrate.checkers.run.steps import expectations_met  # noqa: PLC0415 - beside its only use

    data = {"name": "a", "expected": 1, "observed": 1, "met": True, "kind": "SAFETY"}
    run = history(events=[Event(0, 1, EventKind.EXPECTATION, None, data)], requirements=("K0-FREE",))
    verdicts = judge(run, [Check("of_traffic")], by_name([of_traffic, expectations_met]))
    assert [(each.check, about.requirement) for each in verdicts for about in each.about] == [
        ("expectations_met", "K0-FREE")
    ]


def test_a_general_claim_does_not_speak_for_what_an_expectation_names() -> None:
    """The expectation is its evidence; for what no expectation names the general claim is all there is."""
    data = {"name": "a", "expected": 1, "observed": 1, "met": True, "kind": "SAFETY", "requirements": ["K0-MINE"]}
    run = history(events=[Event(0, 1, EventKind.EXPECTATION, None, data)], requirements=("K0-MINE", "K0-FREE"))
    verdicts = judge(run, [Check("general_one")], by_name([general_one]))
    [general] = [each for each in verdicts if each.check == "general_one"]
    assert [each.requirement for each in general.about] == ["K0-FREE"]


def test_a_doubt_reaches_each_requirement() -> None:
    """What a check says about a requirement holds no more than the run does; a violation stands."""
    trouble = event(EventKind.HARNESS_TROUBLE, 1, what="probe stopped")
    verdicts = judge(history(events=[trouble]), [Check("of_the_document")], KNOWN)
    found = {each.requirement: (each.outcome, each.kind) for verdict in verdicts for each in verdict.about}
    assert found["K0-PASSIVE"] == (Outcome.INCONCLUSIVE, Kind.HARNESS)
    assert found["K0-MINE"] == (Outcome.VIOLATES, Kind.SAFETY)


@pytest.mark.parametrize(
    ("verdict", "counts"),
    [
        (conforms("").by("a"), True),
        (violates(Kind.SAFETY, RED).by("a"), True),
        (replace(violates(Kind.SAFETY, RED).by("a"), known_bugs=("KAFKA-1",)), False),
        (inconclusive(Kind.VACUOUS, "").by("a"), False),
        (inconclusive(Kind.HARNESS, "").by("a"), True),
        (not_applicable("").by("a"), False),
    ],
)
def test_what_was_not_asked_for_counts_where_it_says_something_new(verdict: Verdict, counts: bool) -> None:
    """Of a test that was about something else neither nothing nor a known bug is news; what it asked for counts."""
    assert replace(verdict, standing=True).counts is counts
    assert verdict.counts


@pytest.mark.parametrize("bind", [lambda each: each, lambda each: speaking(each, "K0-FREE")])
def test_a_document_binds_a_general_check(bind: Callable[..., object]) -> None:
    """Bound, it speaks for the document's requirement wherever it is asked for, claimed or not."""
    known = {**KNOWN, "general_one": bind(general_one)}
    found = outcomes("general_one", known=known)  # type: ignore[arg-type]
    assert (("general_one", "K0-FREE") in found) is (known["general_one"] != general_one)


@pytest.mark.parametrize(
    ("offered", "outcome"),
    [(["metrics"], "NOT_APPLICABLE"), ([*Capability], "CONFORMS"), (None, "CONFORMS")],
    ids=["lacking", "offered", "of 0.1"],
)
def test_a_check_of_what_the_provider_does_not_offer_is_not_applicable(offered: list[str] | None, outcome: str) -> None:
    """Asked for or not it names what lacks; a run that does not say what its provider could do is judged."""

    @checker("K0-ZNODE", in_every_run=lambda _: offered is None or len(offered) > 1, needs=[Capability.ZNODES])
    def of_znodes(_: History) -> Verdict:
        return conforms("seen").by("of_znodes")

    run = history()
    run = replace(run, header=replace(run.header, extra={"capabilities": offered} if offered else {}))
    for asked in ([Check("of_znodes")], []):
        [verdict] = judge(run, asked, by_name([of_znodes]))
        assert [(each.requirement, each.outcome.name) for each in verdict.about] == [("K0-ZNODE", outcome)]
        assert ("does not offer: znodes" in verdict.summary) is (outcome == "NOT_APPLICABLE")


def test_a_vacuous_about_is_told_by_what_was_seen() -> None:
    """Doubted evidence is evidence."""
    assert About("K0-A", Outcome.INCONCLUSIVE, Kind.VACUOUS).is_vacuous
    assert not About("K0-A", Outcome.INCONCLUSIVE, Kind.VACUOUS, seen=2).is_vacuous
