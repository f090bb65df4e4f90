"""The toy as the rest of the product uses it."""

from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.document import ClusterReader, Document, Move, State, Step
from pytest_kmigrate.model.event import PHASE, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.protocols import Cluster, Reading
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, violates
from pytest_kmigrate.procedures.moves import Roll

NEW = "4.3.0"


def phase(reader: ClusterReader) -> Reading:
    """OLD, MIXED or NEW, by the releases that brokers run."""
    new = [broker.kafka == NEW for broker in reader.cluster.nodes(Role.BROKER)]
    return Reading("NEW" if all(new) else "MIXED" if any(new) else "OLD")


def canary(cluster: Cluster) -> list[Move]:
    """The first broker alone."""
    return [Roll(cluster.nodes(Role.BROKER)[0].name, kafka=NEW)]


def others(cluster: Cluster) -> list[Move]:
    """All other brokers."""
    return [Roll(broker.name, kafka=NEW) for broker in cluster.nodes(Role.BROKER)[1:]]


CANARY = Step("upgrade-one-broker", canary, (PHASE, "MIXED"))
REST = Step("upgrade-all-others", others, (PHASE, "NEW"))


@checker("TOY-UPGRADE-every-broker", in_every_run=lambda history: bool(history.states(PHASE)))
def every_broker_runs_the_new_release(history: History) -> Verdict:
    """The last start of every broker was of the new release, once the upgrade was begun."""
    name = "every_broker_runs_the_new_release"
    if not history.of(EventKind.STEP_BEGAN):
        return inconclusive(Kind.VACUOUS, "no upgrade was begun").by(name)
    started = [event for event in history.of(EventKind.NODE_STARTED) if event.data["role"] == "broker"]
    last = {str(event.node): event for event in started}
    old = [event for event in last.values() if event.data["kafka"] != NEW]
    found = [
        Violation(f"{event.node} runs {NEW}", f"it runs {event.data['kafka']}", event.at_ns, (f"event {event.seq}",))
        for event in old
    ]
    return violates(Kind.SAFETY, found).by(name) if found else conforms(f"{len(last)} brokers run {NEW}").by(name)


DOCUMENT = Document(
    id="toy",
    title="A toy: the upgrade of brokers",
    checks=(every_broker_runs_the_new_release,),
    states=(State(PHASE, phase),),
    metrics=("RaftCurrentEpoch",),
    procedure=(CANARY, REST),
)
