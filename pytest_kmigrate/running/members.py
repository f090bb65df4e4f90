"""The members of groups under test in one run: started by kind, known by name, ended with the run."""

import itertools
import time
from collections.abc import Mapping, Sequence
from typing import Self

from pytest_kmigrate.model.document import MembersUnderTest
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.protocols import Cluster
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.recording.operation_parts import PartWriter
from pytest_kmigrate.recording.recorder import RunRecorder
from pytest_kmigrate.workloads.members.member import ENDED_WITHIN_S, MemberPlace, MemberSettings, RunningMember

_FIRST_CLIENT = 10_000
"""Above the numbers of a workload's clients."""


class GroupMembers:
    """Starts members until ``finish``; leaving the block ends them, and so does the end of the cluster."""

    def __init__(
        self, cluster: Cluster, recorder: RunRecorder, under_test: MembersUnderTest | None, command: Sequence[str]
    ) -> None:
        """``command``: what runs the kinds under test in place of the reference; empty: the reference does."""
        self.by_name: dict[str, RunningMember] = {}
        self._cluster = cluster
        self._recorder = recorder
        self._under_test = under_test
        self._command = command
        numbers = itertools.count(_FIRST_CLIENT)
        self._place = MemberPlace(
            spawn=cluster.spawn,
            scratch=cluster.scratch,
            logs=recorder.folder.log_folder("members"),
            recorder=recorder,
            start_ns=recorder.start_ns,
            number=lambda: next(numbers),
            names=lambda: {node.name: _address(cluster, node.name) for node in cluster.nodes(Role.BROKER)},
            rows=lambda name, client: PartWriter(recorder.folder.operations, f"{name}-{client}"),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.finish()

    def start(
        self,
        kind: str,
        group: str,
        topics: Mapping[str, int],
        properties: Mapping[str, str],
        *,
        has_listener: bool = False,
    ) -> RunningMember:
        """Start one more member of a kind, without waiting for it; its name is the kind and a number."""
        number = 1 + sum(each.kind == kind for each in self.by_name.values())
        settings = MemberSettings(f"{kind}-{number}", kind, group, topics, properties, has_listener)
        member = self.by_name[settings.name] = RunningMember(self._argv(kind), settings, self._place)
        member.start()
        return member

    def _argv(self, kind: str) -> Sequence[str]:
        if self._under_test is None:
            raise WrongUseError("members: expected --kmigrate-profile of a document with members, such as kip-125")
        if self._command and kind in self._under_test.kinds:
            return self._command
        return self._under_test.others.get(kind, self._under_test.command)

    def finish(self) -> None:
        """End all members, at the same time and in order; one that hangs is killed, and so is what it left behind."""
        until = time.monotonic() + ENDED_WITHIN_S
        for each in self.by_name.values():
            each.ask_to_stop()
        for each in self.by_name.values():
            each.await_stopped(max(0.1, until - time.monotonic()))


def _address(cluster: Cluster, node: str) -> str:
    return cluster.peer(node).address.rpartition(":")[0]
