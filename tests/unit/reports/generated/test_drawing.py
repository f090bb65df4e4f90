"""Which generated mutants are drawn."""

from collections import Counter

import pytest

from pytest_kmigrate.distributions.java_tools.mutants import GeneratedMutant
from pytest_kmigrate.reports.generated.drawing import drawn, is_sensible, without_copies


def mutant(
    class_name: str = "org.acme.A", place: int = 0, method: str = "poll()V", change: str = "x"
) -> GeneratedMutant:
    """One of a class."""
    return GeneratedMutant(class_name, place, method, 10 + place, "NegateConditionalsMutator", change, place)


MANY = [mutant("org.acme.A", place) for place in range(60)] + [mutant("org.acme.B", place) for place in range(30)]
MANY += [mutant("org.acme.C", place) for place in range(10)]


def test_each_class_has_its_share() -> None:
    """What is over goes to the largest rest: 20 of 100 are 12, 6 and 2; 7 of 100 are 4, 2 and 1."""
    shares = [Counter(each.class_name[-1] for each in drawn(MANY, count, seed=3)) for count in (20, 7)]
    assert shares == [{"A": 12, "B": 6, "C": 2}, {"A": 4, "B": 2, "C": 1}]


def test_a_seed_draws_the_same_whatever_the_order_of_all() -> None:
    """So a sample can be added to that of another seed, and drawn again."""
    assert drawn(MANY, 9, seed=1) == drawn(MANY[::-1], 9, seed=1)
    assert drawn(MANY, 9, seed=1) != drawn(MANY, 9, seed=2)
    assert len(set(drawn(MANY, 500, seed=1))) == len(MANY)


@pytest.mark.parametrize(
    ("method", "change", "expected"),
    [
        ("poll()V", "negated conditional", True),
        ("poll()V", "removed call to org/slf4j/Logger::info", False),
        ("run()V", "removed call to kafka/utils/Logging::warn$", False),
        ("toString()Ljava/lang/String;", "replaced return value", False),
        ("copy$default$1()I", "replaced int return with 0", False),
        ("copyTopics()V", "removed call to java/util/Set::forEach", True),
    ],
)
def test_what_is_only_said_is_no_defect(method: str, change: str, *, expected: bool) -> None:
    """No document says what Kafka logs."""
    assert is_sensible(mutant(method=method, change=change)) is expected


def test_an_id_is_a_name_of_a_folder() -> None:
    """It has class, line, kind and place."""
    assert mutant("org.acme.A$B$", 3).id == "A-B-.13.NegateConditionals.3"


def test_an_instruction_that_a_compiler_copies_is_changed_once() -> None:
    """Two conditions of one line in two methods are two; the line of another class is another one."""

    def at_7(class_name: str, place: int, method: str) -> GeneratedMutant:
        return GeneratedMutant(class_name, place, method, 7, "NegateConditionalsMutator", "negated conditional", place)

    claim = [at_7("org.acme.A", place, "claim()V") for place in (0, 1)]
    release = [at_7("org.acme.A", place, "release()V") for place in (2, 3, 4)]
    other = at_7("org.acme.B", 0, "claim()V")
    assert without_copies([*claim, *release, other]) == [*claim, release[2], other]
