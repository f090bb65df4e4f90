"""Facts about nights on many machines: shards take about the same time, and the examples use what there is."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_kmigrate.campaigns.drawing import OF_A_HAPPENING_S
from pytest_kmigrate.plugin.options import FLAGS, OPTIONS
from tests.unit.campaigns.test_drawing import SPACE, whole_night

EXAMPLES = Path(__file__).parents[3] / "docs" / "how-to" / "examples"


@pytest.mark.parametrize("machines", [2, 4, 8])
def test_the_longest_shard_is_within_a_tenth_of_the_mean(machines: int) -> None:
    """Each machine takes every n-th line."""
    seconds = {(way.starts_at, way.walk): way.seconds for way in SPACE.ways}
    costs = [
        seconds[(each.starts_at, each.walk)] + OF_A_HAPPENING_S * len(each.happenings)
        for each in whole_night().schedules
    ]
    shards = [sum(costs[first::machines]) for first in range(machines)]
    assert max(shards) <= 1.1 * sum(shards) / machines


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in _texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    return [str(value)]


@pytest.mark.parametrize("name", ["chaos-night.yml", "chaos-night.k8s.yaml"])
def test_the_examples_use_options_that_there_are(name: str) -> None:
    """As many shards as machines, each with a folder of its own, and the same command goes on."""
    example = yaml.safe_load((EXAMPLES / name).read_text())
    text = "\n".join(_texts(example))
    used = set(re.findall(r"--kmigrate-([a-z-]+)", text))
    assert used <= {each[0] for each in OPTIONS} | {each[0] for each in FLAGS}
    assert {"schedules", "shard", "resume", "nightly", "runs"} <= used
    shards = set(re.findall(r"/(\d+)\"", text))
    if name.endswith(".k8s.yaml"):
        assert shards == {str(example["spec"]["completions"])}
        assert example["spec"]["completionMode"] == "Indexed"
    else:
        matrix = example["jobs"]["carry-out"]["strategy"]["matrix"]["shard"]
        assert (shards, matrix) == ({str(len(matrix))}, list(range(1, len(matrix) + 1)))
