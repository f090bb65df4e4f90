"""Run folders of a consumer group under test, for the tests of its lanes."""

from pytest_kmigrate.model.event import EventKind
from tests.unit.reports.recorded_runs import MS, RecordedRun

MODE = "/consumers/migrating/migration/mode"
TOPIC = "orders"


class GroupRun(RecordedRun):
    """A run whose members are named by their numbers, unless said."""

    def _of_member(self, ms: float, kind: EventKind, client: int, member: str, **data: object) -> None:
        self.at(ms, kind, client=client, member=member or f"MEZKCC-{client}", **data)

    def joins(self, ms: float, client: int, member: str = "") -> None:
        """It was constructed."""
        self._of_member(ms, EventKind.MEMBER_STARTED, client, member, member_kind="MEZKCC", topics={TOPIC: 1})

    def ends(self, ms: float, client: int, how: str = "stopped", member: str = "") -> None:
        """Its process is gone."""
        self._of_member(ms, EventKind.MEMBER_ENDED, client, member, how=how)

    def warns(self, ms: float, client: int, member: str = "") -> None:
        """It printed a warning."""
        self._of_member(ms, EventKind.MEMBER_REPORTED, client, member, what="warning", member_ns=int(ms * MS))

    def follows(self, ms: float, client: int, mode: str) -> None:
        """It follows this system from now on."""
        self._of_member(ms, EventKind.MEMBER_MODE, client, "", mode=mode)

    def owns(self, ms: float, client: int, *partitions: int, source: str = "") -> None:
        """It owns partitions of the topic from now on."""
        listed = [[TOPIC, each, 0] for each in partitions]
        self._of_member(ms, EventKind.MEMBER_OWNS, client, "", partitions=listed, source=source, member_ns=int(ms * MS))

    def releases(self, ms: float, client: int, *partitions: int) -> None:
        """It handed over their last record."""
        listed = [[TOPIC, each] for each in partitions]
        self._of_member(ms, EventKind.MEMBER_RELEASED, client, "", partitions=listed, member_ns=int(ms * MS))

    def writes(self, ms: float, mode: str | None) -> None:
        """The operator wrote the mode, or deleted it."""
        self.at(ms, EventKind.ZNODE_WRITTEN, path=MODE, data=mode)
