"""Packages of Debian and Ubuntu: installed by root, after any other package manager at work has ended.

``python -m pytest_kmigrate.machine.packages NAME...`` installs what is named.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence

from pytest_kmigrate.model.errors import AwaitTimeoutError, EnvironmentLackError
from pytest_kmigrate.waiting import NotYet, until

OTHERS_END_WITHIN_S = 900
"""A new machine in a cloud updates itself for some minutes first."""
_EVERY_S = 2
_HELD = re.compile(r"Could not get lock (?P<file>\S+?)\.? (?:.*?It is held by (?P<holder>process \d+(?: \([^)]*\))?))?")
# apt-get waits itself for the lock of dpkg, but not for those of its lists and its archives.
_OPTIONS = ("-q", "-o", f"DPkg::Lock::Timeout={OTHERS_END_WITHIN_S}")


def install(alternatives: Sequence[str], notify: Callable[[str], None]) -> None:
    """Install packages; of ``a|b`` the first that this release of the system offers."""
    _apt_get(["update", *_OPTIONS], notify)
    packages = [_offered(each) for each in alternatives]
    notify(f"installing {' '.join(packages)}")
    _apt_get(["install", "-y", "--no-install-recommends", *_OPTIONS, *packages], notify)


def _offered(alternatives: str) -> str:
    names = alternatives.split("|")
    shown = (subprocess.run(["apt-cache", "show", name], capture_output=True, check=False) for name in names)
    return next((name for name, answer in zip(names, shown, strict=True) if answer.returncode == 0), names[0])


def _apt_get(arguments: Sequence[str], notify: Callable[[str], None]) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    holders: set[str] = set()

    def ended() -> subprocess.CompletedProcess[str] | NotYet:
        answer = subprocess.run(
            ["apt-get", *arguments],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env=environment,
            check=False,
        )
        held = _HELD.search(f"{answer.stderr} ") if answer.returncode != 0 else None
        if held is None:
            return answer
        holder = held["holder"] or "another process"
        if holder not in holders:
            holders.add(holder)
            notify(f"apt-get {arguments[0]}: {holder} holds {held['file']}; waiting for its end")
        return NotYet(f"{held['file']} held by {holder}")

    try:
        answer = until(
            ended, awaited="the end of another package manager", within_s=OTHERS_END_WITHIN_S, every_s=_EVERY_S
        )
    except AwaitTimeoutError as error:
        raise EnvironmentLackError(f"apt-get {arguments[0]}: {error}; end it, then repeat the command") from error
    if answer.returncode != 0:
        raise EnvironmentLackError(
            f"apt-get {' '.join(arguments)}: expected exit code 0, got {answer.returncode}:\n{answer.stderr[-1500:]}\n"
            "Correct what it says, or install these packages by hand"
        )


if __name__ == "__main__":
    install(sys.argv[1:], lambda line: print(line, file=sys.stderr))  # noqa: T201 - a command
