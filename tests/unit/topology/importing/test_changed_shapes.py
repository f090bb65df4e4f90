"""Shapes with one value that is another: each is a topology, or one error that names the file."""

import copy
import json
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from pytest_kmigrate.model.errors import TopologyError
from pytest_kmigrate.topology.importing.draft import Wish
from pytest_kmigrate.topology.importing.importer import imported
from tests.unit.topology.importing.test_shapes import SHAPES

CHANGES = (None, [], {}, "text", "0", "-5", "${X}", "{{ x }}", ["a"], {"a": "b"}, "a,b,,c:d", "99999999999999")
SO_MANY = 30


def places(tree: object, above: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """The way to each value in a tree."""
    within = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, each in within:
        yield (*above, key)
        yield from places(each, (*above, key))


def changed(tree: object, place: tuple[object, ...], value: object) -> object:
    """The tree with another value at this place."""
    own = copy.deepcopy(tree)
    here: Any = own
    for key in place[:-1]:
        here = here[key]
    here[place[-1]] = value
    return own


def test_one_other_value_never_ends_in_a_stack_trace(tmp_path: Path) -> None:
    """Some of all changes, drawn by a fixed seed."""
    drawn, file = random.Random(1), tmp_path / "changed.yaml"
    trees = [
        list(yaml.load_all(shape.read_text(encoding="utf-8"), yaml.BaseLoader))
        for shape in sorted(SHAPES.glob("*.y*ml"))
    ]
    cases = [(tree, place) for tree in trees for place in places(tree) if len(place) > 1]
    for tree, place in drawn.sample(cases, SO_MANY):
        documents = changed(tree, place, drawn.choice(CHANGES))
        assert isinstance(documents, list)
        file.write_text("\n---\n".join(map(json.dumps, documents)), encoding="utf-8")
        with suppress(TopologyError):
            assert imported([file], Wish("changed")).text
