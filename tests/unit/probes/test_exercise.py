"""Facts about the probe of executed code: what is new is recorded once, and damaged data is refused."""

from collections.abc import Sequence

import pytest

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import Executed
from pytest_kmigrate.probes.exercise import ExerciseProbe
from pytest_kmigrate.probes.exercise_data import executions
from tests.unit.fakes import MemoryRecorder, Stage
from tests.unit.probes.executions import execution_data

DRIVER, OTHER = "org.apache.kafka.Driver", "kafka.zk.Other$1"


class Lines(MemoryRecorder):
    """Keeps what was executed, too."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[Executed] = []

    def executed(self, executed: Executed) -> None:
        """Append one."""
        self.lines.append(executed)


def of(recorder: Lines) -> list[tuple[str, str, Sequence[int]]]:
    """What was recorded, shortly."""
    return [(each.node, each.class_name, each.executed) for each in recorder.lines]


def test_execution_data_has_classes_of_any_number_of_probes() -> None:
    """More than 127 take two bytes; the lowest bit of a byte is the first probe."""
    first, second = executions(execution_data((DRIVER, 0x1A << 56, 300, [0, 8, 299]), (OTHER, 7, 1, [])))
    assert (first.name, first.class_id, first.probes) == (DRIVER, "1a00000000000000", 300)
    assert first.executed == {0, 8, 299}
    assert (second.name, second.class_id, second.executed) == (OTHER, "0000000000000007", frozenset())


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (execution_data((DRIVER, 1, 9, [8]))[:-1], "got a part"),
        (b"\x02", "got one of type 2"),
        (b"\x01\xc0\xc0\x10\x08", "another format"),
    ],
)
def test_other_data_is_refused(data: bytes, expected: str) -> None:
    """A probe that reads it wrongly would name lines that nothing executed."""
    with pytest.raises(ValueError, match=expected):
        list(executions(data))


def test_what_is_new_is_recorded_once_also_after_a_restart(stage: Stage) -> None:
    """The JVM before left its last reading; the new one begins from nothing."""
    cluster, recorder = stage.cluster, Lines()
    probe = ExerciseProbe(cluster, recorder)
    cluster.executions["broker-0"] = [execution_data((DRIVER, 1, 9, [0, 1]))]
    probe.look("broker-0")
    probe.look("broker-0")
    cluster.executions["broker-0"] = [execution_data((DRIVER, 1, 9, [0, 1, 2])), execution_data((DRIVER, 1, 9, [3]))]
    cluster.executions["broker-1"] = [execution_data((DRIVER, 2, 8, [0]))]
    probe.stop()
    assert of(recorder) == [
        ("broker-0", DRIVER, (0, 1)),
        ("broker-0", DRIVER, (2,)),
        ("broker-0", DRIVER, (3,)),
        ("broker-1", DRIVER, (0,)),
    ]


def test_a_cluster_that_cannot_is_not_read(stage: Stage) -> None:
    """That stands in the history, so that a page without lines has a reason."""
    recorder = Lines()
    stage.cluster.capabilities -= {Capability.EXERCISE}
    probe = ExerciseProbe(stage.cluster, recorder)
    probe.start()
    probe.stop()
    assert recorder.lines == []
    (lacking,) = recorder.of(EventKind.NOT_OFFERED)
    assert lacking.data == {"what": "--kmigrate-exercise", "lacking": ["exercise"]}
