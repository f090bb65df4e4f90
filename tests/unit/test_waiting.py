"""Facts about the one room that waits."""

import threading
from concurrent.futures import Future

import pytest

from pytest_kmigrate.model.errors import AwaitTimeoutError
from pytest_kmigrate.waiting import NotYet, answered, ended_early_by, repeat, until


def test_the_first_truthy_value_ends_the_wait() -> None:
    """``until`` gives back what the condition gave, and asks no more."""
    answers = iter([None, "", NotYet("nearly"), "there", "too far"])
    assert until(lambda: next(answers), awaited="it", within_s=30, every_s=0) == "there"
    assert next(answers) == "too far"


@pytest.mark.parametrize(
    ("answer", "reported"), [(None, "None"), (0, "0"), (NotYet("3 of 4 brokers"), "3 of 4 brokers")]
)
def test_a_timeout_tells_what_was_awaited_and_last_seen(answer: object, reported: str) -> None:
    """The message is complete: what, how long, last value; a NotYet explains it."""
    with pytest.raises(AwaitTimeoutError) as caught:
        until(lambda: answer, awaited="all brokers ready", within_s=0)
    assert str(caught.value) == f"all brokers ready: not within 0 s; last seen: {reported}"


def test_a_condition_is_asked_at_least_once() -> None:
    """Even with no time at all, a condition that holds is seen to hold."""
    assert until(lambda: 7, awaited="it", within_s=0) == 7


def test_abort_ends_the_wait_at_once() -> None:
    """What ``abort`` raises comes out; the condition is not asked again."""
    asked: list[int] = []

    def abort() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        until(lambda: asked.append(1), awaited="it", within_s=30, abort=abort)
    assert asked == [1]


def test_a_value_comes_before_an_abort() -> None:
    """What was awaited and came true counts, though something else broke too."""

    def abort() -> None:
        raise ZeroDivisionError

    assert until(lambda: True, awaited="it", within_s=30, abort=abort)


def test_what_ends_waits_early_ends_every_wait_in_its_block() -> None:
    """Also one that does not know of it; not one that ends anyway, and none later."""

    def check() -> None:
        raise ZeroDivisionError

    with ended_early_by(check):
        with pytest.raises(ZeroDivisionError):
            until(lambda: False, awaited="it", within_s=180)
        with pytest.raises(AwaitTimeoutError):
            until(lambda: False, awaited="it", within_s=0.1, ends_anyway=True)
        assert until(lambda: True, awaited="it", within_s=180)
    with pytest.raises(AwaitTimeoutError):
        until(lambda: False, awaited="it", within_s=0.1)


def test_an_answer_is_awaited_like_anything_else() -> None:
    """Its value or its error; a limit, and what ends waits early."""
    future = Future[int]()
    with pytest.raises(AwaitTimeoutError, match="an answer: not within 0 s"):
        answered(future, awaited="an answer", within_s=0)
    future.set_result(7)
    assert answered(future, awaited="an answer", within_s=0) == 7
    failed = Future[int]()
    failed.set_exception(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        answered(failed, awaited="an answer", within_s=0)


def test_repeat_ends_when_it_is_over() -> None:
    """The action is called again and again, and not after ``over`` is set."""
    over = threading.Event()
    calls: list[int] = []

    def action() -> None:
        calls.append(1)
        if len(calls) == 3:
            over.set()

    repeat(action, 0, over)
    assert len(calls) == 3
