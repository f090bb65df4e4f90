"""Real data: records and znodes of one small migration on 3.9.1 and one on 3.6.0, a broker killed at the end."""

import json
from pathlib import Path
from typing import Any

from pytest_kmigrate.redaction import HIDDEN

FOLDER = Path(__file__).parent / "samples"
COMPARED = ("topics", "partitions", "configs", "acls", "quotas", "scram", "delegation_tokens", "producer_ids")


def records(kafka: str) -> list[dict[str, Any]]:
    """Decoded records of the controller's log."""
    return [json.loads(line) for line in (FOLDER / f"records-{kafka}.jsonl").read_text().splitlines()]


def tree(kafka: str) -> dict[str, bytes | None]:
    """ZooKeeper's tree at the same time."""
    texts = json.loads((FOLDER / f"znodes-{kafka}.json").read_text())
    return {path: None if text is None else text.encode() for path, text in texts.items()}


def differences(first: Any, second: Any) -> dict[str, list[str]]:
    """Family -> keys whose values differ, looking only at what both sides say."""
    found: dict[str, list[str]] = {}
    for family in COMPARED:
        one, other = getattr(first, family), getattr(second, family)
        for key in sorted({*one, *other}):
            if _common(one.get(key), other.get(key)) != _common(other.get(key), one.get(key)):
                found.setdefault(family, []).append(key)
    return found


def _common(value: Any, other: Any) -> Any:
    if isinstance(value, dict) and isinstance(other, dict) and "replicas" in value:
        return {key: value[key] for key in value if key in other}
    if isinstance(value, dict) and isinstance(other, dict):
        return {key: HIDDEN if HIDDEN in (value[key], other.get(key)) else value[key] for key in value}
    return value
