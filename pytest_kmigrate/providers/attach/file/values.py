"""What single keys of an attach file may hold: addresses, commands, names of metrics, hours; ValueError in words."""

import re
from dataclasses import dataclass
from datetime import datetime, time
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.metrics import check_metric
from pytest_kmigrate.providers.attach.file.dialects import dialects, series
from pytest_kmigrate.topology.braces import only
from pytest_kmigrate.topology.values import matching

_PORT = "(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
_ADDRESS = re.compile(rf"[^\s:/,]+:{_PORT}")
_CONNECT = re.compile(rf"{_ADDRESS.pattern}(,{_ADDRESS.pattern})*(?P<chroot>(/[A-Za-z0-9._-]+)*)")
_RELEASE = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
_PREFIX = re.compile(r"[A-Za-z0-9._-]{3,}")
_URL = re.compile(r"https?://\S+")
_OF_NODE = ("name", "id", "host", "role")
"""What stands in braces in a command or an address: of the node that it is about."""
_OF_HOOK = (*_OF_NODE, "file", "source", "source_host", "port")
"""As above, in a hook; ``file``: of new properties; of a link to the node: who dials, from where, and at which port."""
_WINDOW = re.compile(r"(?P<begin>\d\d:\d\d)-(?P<end>\d\d:\d\d) (?P<zone>\S+)")


@dataclass(frozen=True)
class Window:
    """The hours of each day in which something may be done; they may go past midnight."""

    begin: time
    end: time
    zone: ZoneInfo

    def is_open(self, now: datetime) -> bool:
        """Whether this moment, which knows its own zone, lies in it."""
        at = now.astimezone(self.zone).time()
        if self.begin <= self.end:
            return self.begin <= at < self.end
        return at >= self.begin or at < self.end


def window(text: str) -> Window:
    """The hours in that text; ValueError when it names none."""
    match = _WINDOW.fullmatch(text)
    try:
        begin, end = (time.fromisoformat(match[key] if match else "") for key in ("begin", "end"))
        return Window(begin, end, ZoneInfo(match["zone"] if match else ""))
    except (ValueError, ZoneInfoNotFoundError, OSError):
        raise ValueError('expected hours and their zone, such as "21:00-05:00 Europe/Berlin"') from None


def _hours(text: str) -> str:
    window(text)
    return text


def _with_places(text: str, places: tuple[str, ...] = _OF_NODE) -> str:
    only([text], places)
    return text


def _with_places_of_hook(text: str) -> str:
    return _with_places(text, _OF_HOOK)


Address = Annotated[str, matching(_ADDRESS, 'host:port, such as "b1.example:9094"')]
Connect = Annotated[str, matching(_CONNECT, 'host:port,... and the chroot, such as "zk1:2181,zk2:2181/kafka"')]
Release = Annotated[str, matching(_RELEASE, 'a release with three numbers, such as "3.9.1"')]
Url = Annotated[
    str, matching(_URL, 'an address of HTTP, such as "http://{host}:8778/jolokia"'), AfterValidator(_with_places)
]
Hours = Annotated[str, AfterValidator(_hours)]
Prefix = Annotated[str, matching(_PREFIX, 'at least three of letters, digits, . _ -, such as "kmigrate-"')]
Template = Annotated[str, AfterValidator(_with_places)]
Words = Annotated[list[Template], Field(min_length=1)]
HookWords = Annotated[list[Annotated[str, AfterValidator(_with_places_of_hook)]], Field(min_length=1)]


def _dialect(name: str) -> str:
    if name not in dialects():
        raise ValueError(f"expected one of {', '.join(dialects())}")
    return name


def _all_series(chosen: dict[str, str]) -> dict[str, str]:
    try:
        for name, text in chosen.items():
            check_metric(name)
            series(text)
    except (WrongUseError, ValueError) as error:
        raise ValueError(str(error)) from None
    return chosen


Dialect = Annotated[str, AfterValidator(_dialect)]
AllSeries = Annotated[dict[str, str], AfterValidator(_all_series)]
