"""Check of the metrics that KIP-866 introduces and that distinguish modes: they exist, and hold what they should."""

from collections.abc import Iterator, Sequence

from pytest_kmigrate.checkers.controllers.lives import processes
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.broker_modes import brokers_at
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import FEWEST
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Kind, Verdict

_BROKER, _CONTROLLER = "K866-METRIC-BrokerMetadataType", "K866-METRIC-ControllerMetadataType"
_ACTIVE_ONLY, _FEATURES = "K866-METRIC-ControllerMetadataType-active-only", "K866-METRIC-Features"
_OF_BROKERS, _OF_CONTROLLERS, _OF_FEATURES = "BrokerMetadataType", "ControllerMetadataType", "ControllerFeatures"
_TYPE_OF = {"zookeeper": 1, "kraft": 2}
_TYPES = (1, 2, 3)


def _were_asked_for(history: History) -> bool:
    """Of a release that can migrate: later ones have nothing of the document."""
    return not history.header.kafka.startswith("4.") and any(_OF_BROKERS in each.values for each in history.samples)


@checker(
    _BROKER,
    _CONTROLLER,
    _ACTIVE_ONLY,
    _FEATURES,
    in_every_run=_were_asked_for,
    anomaly="metric of the document absent",
    needs=[Capability.METRICS],
)
def metrics_of_the_document(history: History) -> Verdict:
    """Brokers expose their MetadataType, 1 or 2 by their mode; active controllers theirs, 1 to 3, and their features.

    A metric is absent if a node answers, was asked for it, and exposes none in any of its samples. Runs that
    did not ask for it prove nothing. Where no controller has a MetadataType, none can be reported by a standby.
    """
    rows = ByRequirement(_BROKER, _CONTROLLER, _ACTIVE_ONLY, _FEATURES)
    brokers = [_answers(each, _OF_BROKERS) for each in processes(history, "broker")]
    controllers = [each for role in ("broker", "controller") for each in processes(history, role)]
    active = [[s for s in each if s.values.get("ActiveControllerCount") == 1] for each in controllers]
    _judge_existence(history, rows, _BROKER, _OF_BROKERS, brokers)
    _judge_existence(history, rows, _CONTROLLER, _OF_CONTROLLERS, [_answers(each, _OF_CONTROLLERS) for each in active])
    _judge_existence(history, rows, _FEATURES, _OF_FEATURES, [_answers(each, _OF_FEATURES) for each in active])
    _judge_types(history, rows, [sample for each in brokers for sample in each])
    _judge_standbys(history, rows, [sample for each in controllers for sample in _answers(each, _OF_CONTROLLERS)])
    return rows.verdict("the metrics exist, and hold what they should", "no node answered for long enough")


def _answers(samples: Sequence[Sample], metric: str) -> list[Sample]:
    """Those in which the node was asked for the metric, and answered."""
    return [each for each in samples if metric in each.values and any(v is not None for v in each.values.values())]


def _judge_existence(
    history: History, rows: ByRequirement, row: str, metric: str, nodes: Sequence[Sequence[Sample]]
) -> None:
    asked = [each for each in nodes if len(each) >= FEWEST]
    without = [each for each in asked if all(sample.values[metric] is None for sample in each)]
    rows.looked_at(row, len(asked) - len(without))
    if without:
        first = without[0][0]
        lacking = f"{len(without)} of {counted(len(asked), 'process', 'processes')} expose none"
        samples = counted(sum(map(len, without)), "sample")
        observed = f"{lacking} in {samples}; the first is {first.node}"
        expected = f"{metric} is exposed"
        rows.violated(
            row, timed_violation(history, expected, observed, first.at_ns, "metrics/metrics.jsonl"), Kind.LIVENESS
        )


def _judge_types(history: History, rows: ByRequirement, samples: Sequence[Sample]) -> None:
    for sample in samples:
        value = sample.values[_OF_BROKERS]
        modes = {each.name: each.mode for each in brokers_at(history, sample.at_ns)} if value is not None else {}
        expected = _TYPE_OF.get(modes.get(sample.node, ""))
        if expected is not None and value != expected:
            observed = f"{sample.node} reports {value:g} in {modes[sample.node]} mode"
            text = f"{_OF_BROKERS} is {expected}"
            rows.violated(_BROKER, timed_violation(history, text, observed, sample.at_ns, "metrics/metrics.jsonl"))


def _judge_standbys(history: History, rows: ByRequirement, samples: Sequence[Sample]) -> None:
    if samples and all(each.values[_OF_CONTROLLERS] is None for each in samples):
        rows.not_applicable(_ACTIVE_ONLY, f"no controller has a {_OF_CONTROLLERS}, see {_CONTROLLER}")
        return
    for sample, value in _reported(samples):
        is_active = sample.values.get("ActiveControllerCount") == 1
        row = _CONTROLLER if is_active else _ACTIVE_ONLY
        if is_active and value in _TYPES:
            continue
        observed = f"{sample.node} reports {value:g}"
        expected = (
            f"{_OF_CONTROLLERS} is 1, 2 or 3" if is_active else f"only active controllers report {_OF_CONTROLLERS}"
        )
        rows.violated(row, timed_violation(history, expected, observed, sample.at_ns, "metrics/metrics.jsonl"))
    silent = sum(each.values.get("ActiveControllerCount") == 0 for each in samples)
    rows.looked_at(_ACTIVE_ONLY, silent if silent >= FEWEST else 0)


def _reported(samples: Sequence[Sample]) -> Iterator[tuple[Sample, float]]:
    for each in samples:
        value = each.values[_OF_CONTROLLERS]
        if value is not None:
            yield each, value
