"""How exporters of Prometheus name MBeans: the tables of ``dialects.toml``, and selectors of single series."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pytest_kmigrate.model.metrics import MBean

_DIALECTS = Path(__file__).with_name("dialects.toml")
_MBEAN = re.compile(r"kafka\.(?P<area>\w+):type=(?P<type>[^,]+)(,name=(?P<name>[^,]+))?\Z")
_SERIES = re.compile(r'(?P<name>[a-zA-Z_:][\w:]*)(\{(?P<labels>([\w]+="[^"]*",?)*)\})?\Z')
_LABEL = re.compile(r'(\w+)="([^"]*)"')

Series = tuple[str, frozenset[tuple[str, str]]]
"""A name and the labels that are asked for, in small letters."""


@cache
def dialects() -> Mapping[str, Mapping[str, str]]:
    """Every dialect by its name."""
    return tomllib.loads(_DIALECTS.read_text(encoding="utf-8"))


def series(text: str) -> Series:
    """What a selector such as ``name{label="value"}`` asks for; ValueError when it is none."""
    match = _SERIES.match(text)
    if match is None:
        raise ValueError('expected a series, such as name{label="value"}')
    labels = _LABEL.findall(match["labels"] or "")
    return match["name"].lower(), frozenset((label.lower(), value.lower()) for label, value in labels)


def series_of(dialect: str, mbean: MBean) -> Series | None:
    """How a dialect names an attribute of an MBean; None for one that no exporter names in one way."""
    match, attribute = _MBEAN.match(mbean[0]), mbean[1]
    if match is None:
        return None
    table = dialects()[dialect]
    template = table.get(attribute, table["others"]) if match["name"] else table["bare"]
    parts = {key: (value or "").replace("-", table["dash"]) for key, value in match.groupdict().items()}
    return series(template.format(**parts, attribute=attribute.replace("-", "_")))
