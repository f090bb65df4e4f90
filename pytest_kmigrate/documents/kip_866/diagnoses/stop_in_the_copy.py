"""kmigrate-19: a controller that is asked to stop while it copies waits for a commit that no longer comes."""

import re

from pytest_kmigrate.checkers.evidence.logs import log_of
from pytest_kmigrate.checkers.run.deaths import failed_stops, unexpected_deaths
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_COPIES = re.compile(r'migration-driver-event-handler" (?:(?!\n\n).)*?MigrateMetadataEvent\.run', re.DOTALL)
_WAITS_FOR_IT = re.compile(r'"kafka-shutdown-hook" (?:(?!\n\n).)*?KRaftMigrationDriver\.close', re.DOTALL)
"""Threads, as a JVM that is to be killed is made to list them; an empty line ends each."""


@diagnosis("kmigrate-19")
def stop_waits_for_the_copy(history: History, verdict: Verdict) -> bool:
    """A controller had to be killed while its driver was still copying, and its shutdown waited for the driver.

    The quorum's client had ended before, so nothing was committed any more.
    """
    stops = failed_stops(history)
    others = [*unexpected_deaths(history), *history.of(EventKind.THREAD_DIED)]
    is_about = verdict.check == "no_unexpected_death" and bool(stops) and not others
    return is_about and all(_hung_in_the_copy(history, each) for each in stops)


def _hung_in_the_copy(history: History, stop: Event) -> bool:
    dumped = log_of(history, str(stop.node)).rpartition("Full thread dump")[2]
    return stop.data.get("how") == "hung" and bool(_COPIES.search(dumped) and _WAITS_FOR_IT.search(dumped))
