"""Marts of an invented season of runs: failures, evidence and measures, drawn from its attempts."""

import hashlib
import random
from collections import defaultdict

from pytest_kmigrate.reports.summary.rows import CONDITION, Row

Tables = dict[str, list[Row]]

KAFKA = ("3.6.0", "3.9.1", "3.10.0")
TOPOLOGIES = ("zk1-broker3-controller3", "zk3-broker5-controller3")
FAULTS = (
    ("kill(active-controller)", "HYBRID", "controller"),
    ("cut(broker->zookeeper)", "COPYING", "broker + zookeeper"),
    ("none", "none", "none"),
)


def failures(attempts: list[Row]) -> Tables:
    """Failure clusters with their members and causes: the first fault is always to blame."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for each in attempts:
        if each["kind"] is not None:
            groups[str(each["summary"])].append(each)
    clusters, members, causes = [], [], []
    for text, mine in groups.items():
        name = hashlib.sha256(text.encode()).hexdigest()[:10]
        spread = {key: sorted({str(each[key]) for each in mine}) for key in ("kafka", "test_id", "check")}
        clusters.append(
            {
                "cluster": name,
                "representative": text,
                "failures": len(mine),
                "runs": len(mine),
                "tests": spread["test_id"],
                "kafka": spread["kafka"],
                "first_at": mine[0]["started_at"],
                "last_at": mine[-1]["started_at"],
                "checks": spread["check"],
                "example_folder": mine[0]["folder"],
                "example_timeline": mine[0]["timeline"],
            }
        )
        members += [{"cluster": name, "folder": a["folder"], "check": a["check"], "text": a["summary"]} for a in mine]
        for rank, (fault, phase, _) in enumerate(FAULTS, start=1):
            counted = {"with_failures": 40 // rank, "with_runs": 80, "without_failures": 4, "without_runs": 160}
            lift = {"lift": 20.0 / rank**2, "lift_low": 6.0 / rank**2, "lift_high": 60.0 / rank**2}
            apart = {"tests_compared": 2, "only_in": None}
            factor = {"failure": name, "factor": "fault", "level": f"{fault} {phase}"}
            causes.append(
                {**factor, **counted, **lift, "p_value": 1e-6 * rank, "q_value": 1e-5 * 40**rank, "rank": rank} | apart
            )
    return {"failure_clusters": clusters, "failure_members": members, "causes": causes}


def logged(attempts: list[Row], clusters: list[Row]) -> Tables:
    """A warning and an exception for each failure cluster, which go with it and with all violations, and six more."""
    templates, signs = [], []
    failures = [str(row["cluster"]) for row in clusters] + ["nothing"] * 3
    for place, failure in enumerate(failures):
        warned = f"[Broker id={place}] Connection to node -1 (broker-0/127.1.0.2:9092) is <gone>, as are those to " * 3
        thrown = f"org.apache.kafka.common.errors.NotControllerException: No controller appears to be active in {place}"
        for level, role, text in (("WARN", "broker", warned), ("EXCEPTION", "controller", thrown)):
            name = f"{level} {place}"
            seen = {"first_at": attempts[0]["started_at"], "last_at": attempts[-1]["started_at"], "kafka": list(KAFKA)}
            spread = {"lines": 4711, "runs": 61, "tests": ["a", "b"], "levels": [level], "roles": [role]}
            shown = {"representative": text, "example_folder": attempts[0]["folder"], "example_line": 812}
            shown |= {"example_node": f"{role}-1", "example_timeline": attempts[place]["timeline"]}
            templates.append({"template": name, **seen, **spread, **shown})
            counted = {"with_failures": 20, "with_runs": 61, "without_failures": 4, "without_runs": 179}
            lift = {"lift": 14.0, "lift_low": 5.0, "lift_high": 40.0, "p_value": 1e-6, "rank": 1 + place}
            lift |= {"tests_compared": 2, "only_in": None}
            lift["q_value"] = 0.7 if failure == "nothing" else 1e-5
            for what, named in (("run", "VIOLATES"), ("cluster", failure)):
                signs.append({"what": what, "failure": named, "template": name, **counted, **lift})
    return {"log_templates": templates, "log_signs": signs}


def evidence(attempts: list[Row], chance: random.Random) -> Tables:
    """Anomalies in every run that broke SAFETY, operations of all runs, and what checks and faults came to."""
    anomalies: list[Row] = [
        {
            "folder": each["folder"],
            "class": "lost write",
            "kind": "SAFETY",
            "topic": "orders",
            "partition": int(str(each["seed"])) % 3,
            "count": 2,
            "counterexample": "acknowledged: orders-1 offset 41 value <17>\nend read:     40, 42",
            "at_ns": 31_000_000_000,
            "evidence": "event 4711",
        }
        for each in attempts
        if each["kind"] == "SAFETY"
    ]
    operations: list[Row] = [
        {"folder": e["folder"], "topic": "orders", "partition": 0, "kind": k, "outcome": "OK", "operations": 20_000}
        for e in attempts
        for k in ("PRODUCE", "FINAL_READ")
    ]
    checked: list[Row] = [
        {
            "kafka": kafka,
            "topology": TOPOLOGIES[0],
            "check": "no_acked_record_lost",
            "outcome": "VIOLATES" if kafka == "3.9.1" else "CONFORMS",
            "kind": "SAFETY" if kafka == "3.9.1" else None,
            "verdicts": 40,
            "conforming": 39,
            "violating": 1,
            "inconclusive": 0,
            "not_applicable": 0,
            "anomalies": 2 if kafka == "3.9.1" else 0,
            "anomaly": None,
            "example": "<2 of 900> absent",
        }
        for kafka in KAFKA
    ]
    return {
        "anomalies": anomalies,
        "operation_counts": operations,
        "checked_classes": [{"folder": each["folder"], "classes": ["lost write", "phantom"]} for each in attempts],
        "consistency": checked,
        "consistency_facts": [],
        "metadata_divergences": [_divergence(each, position) for position, each in enumerate(attempts[:3])],
        **_known(attempts, chance),
    }


def _divergence(attempt: Row, position: int) -> Row:
    """The last of them was never seen to end."""
    values = {"left_value": None, "right_value": '{"<n>": "7"}', "moments": 2, "first_moment": "copied"}
    lasted = {"first_ns": 31_000_000_000, "last_ns": 34_000_000_000, "at_least_ms": 2_000.0 + position}
    sides = {"left": "metadata-log", "right": "zookeeper", "family": "configs", "subject": "configs topic:orders"}
    return {"folder": attempt["folder"], **sides, **values, **lasted, "at_most_ms": 9_000.0 if position < 2 else None}


def _known(attempts: list[Row], chance: random.Random) -> Tables:
    effects: list[Row] = [
        {
            "fault": f,
            "phase": p,
            "kafka": k,
            "injected": 40,
            "witnessed": 39,
            "conforming": 30,
            "violating": chance.choice((0, 7)),
        }
        for f, p, _ in FAULTS[:2]
        for k in KAFKA
    ]
    bugs: list[Row] = [
        {
            "bug": "KAFKA-16121",
            "kafka": "3.6.0",
            "runs": 2,
            "kinds": ["LIVENESS"],
            "checks": ["controller_moves"],
            "requirements": ["K866-DW-full-parity"],
            "tests": [attempts[0]["test_id"]],
            "example": "31 s without a controller",
        }
    ]
    return {"fault_effects": effects, "bugs": bugs}


def times(attempts: list[Row], chance: random.Random) -> Tables:
    """Measures of every run; one step is slower in the last version."""
    points: list[Row] = []
    for each in attempts:
        condition = {key: each[key] for key in ("test_id", *CONDITION)}
        at = {"started_at": each["started_at"], "run_id": each["run_id"]}
        slow = 1.5 if each["kafka"] == "3.10.0" else 1
        points += [
            {"measure": "duration_ms", "name": "run", **condition, **at, "value": each["duration_ms"]},
            {
                "measure": "duration_ms",
                "name": "step migrate",
                **condition,
                **at,
                "value": chance.gauss(9_000, 900) * slow,
            },
            {"measure": "write_behind_lag", "name": "largest", **condition, **at, "value": chance.expovariate(0.02)},
        ]
    first = next((each for each in attempts if each["kafka"] == "3.10.0"), None)
    change = {"measure": "duration_ms", "name": "step migrate", "p_value": 1e-9, "direction": "WORSE", "ratio": 1.5}
    medians = {"median_before": 9_000.0, "median_after": 13_500.0}
    changes: list[Row] = [
        {**change, **medians, **{key: first[key] for key in ("profile", "provider")}, "topology": topology}
        | {"since_run": first["run_id"], "since_at": first["started_at"], "since_kafka": first["kafka"]}
        for topology in TOPOLOGIES
        if first
    ]
    spans: list[Row] = [
        {"profile": "kip-866", "provider": provider, "kafka": k, "topology": TOPOLOGIES[0]}
        | {"what": "phase", "name": "COPYING", "times": 40}
        | {"median_ms": 319.4, "p90_ms": 700.0, "largest_ms": 1_900.0}
        for k in KAFKA
        for provider in ("process", "container")
    ]
    return {"trends": points, "trend_changes": changes, "duration_statistics": spans}
