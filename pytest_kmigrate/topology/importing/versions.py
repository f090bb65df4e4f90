"""Releases of Kafka by tags of images, packages of Confluent and protocols; and the nearest one known here."""

import re

from pytest_kmigrate.distributions.releases import known_releases
from pytest_kmigrate.topology.values import NO_ZOOKEEPER_FROM

DEFAULT = "3.9.1"
"""The last line with ZooKeeper, from which most migrations are made."""
_NUMBERS = re.compile(r"(?:^|[^\d.])v?(\d+)\.(\d+)(?:\.(\d+))?")
_MIGRATES_FROM = (3, 4)


def of_kafka(text: str) -> str | None:
    """The release in a tag or a version of Kafka's, with two numbers or three; None where there is none."""
    match = _NUMBERS.search(text)
    return ".".join(part for part in match.groups() if part) if match else None


def of_confluent(text: str) -> str | None:
    """The line of Kafka in a version of Confluent Platform: 7.6 has Kafka 3.6, 8.0 has 4.0."""
    match = _NUMBERS.search(text)
    major = {"7": "3", "8": "4"}.get(match[1]) if match else None
    return f"{major}.{match[2]}" if match and major else None


def numbers(release: str) -> tuple[int, ...]:
    """Its numbers, to be compared."""
    return tuple(int(part) for part in re.findall(r"\d+", release.partition("-")[0])[:3])


def nearest(release: str, *, has_zookeeper: bool) -> tuple[str, str]:
    """The release known here that comes nearest, and why it is another; no reason where it is the same."""
    known = [
        each for each in known_releases() if not has_zookeeper or _MIGRATES_FROM <= numbers(each) < NO_ZOOKEEPER_FROM
    ]
    if release in known:
        return release, ""
    line = [each for each in known if numbers(each)[:2] == numbers(release)[:2]]
    if line:
        return line[-1], "" if release.count(".") == 1 else f"Kafka {release} is not offered; the last of its line is"
    if has_zookeeper and numbers(release) < _MIGRATES_FROM:
        return DEFAULT, f"Kafka {release} cannot migrate: its brokers are upgraded first"
    return (known[-1] if numbers(release) > numbers(known[-1]) else known[0]), f"Kafka {release} is not offered"
