"""A clock of its own for each node: libfaketime before the C library, and a file that says how far it is off.

Only the time of day is another; waits are as long as they were. ``FAKETIME_FORCE_MONOTONIC_FIX=0`` is a must for that:
otherwise each wait of a JVM returns at once.
"""

from functools import cache
from pathlib import Path

_FOLDERS = ("/usr/lib", "/usr/lib64", "/usr/local/lib")
_NAME = "faketime/libfaketimeMT.so.1"
PACKAGE = "libfaketime"
FILE = "clock"


@cache
def library() -> Path | None:
    """The library that this machine has; None if it has none."""
    found = (path for folder in _FOLDERS for path in (Path(folder) / _NAME, *Path(folder).glob(f"*-linux-*/{_NAME}")))
    return next((path for path in found if path.is_file()), None)


def command(clock: Path) -> tuple[str, ...]:
    """What stands before the command of a process whose clock is set by this file."""
    lib = library()
    assert lib is not None, "offered only where there is one"
    variables = {
        "LD_PRELOAD": str(lib),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_CACHE_DURATION": "1",  # in s: the file is read again so often
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_FORCE_MONOTONIC_FIX": "0",
    }
    return ("env", *(f"{name}={value}" for name, value in variables.items()))


def set_to(clock: Path, offset_s: int) -> None:
    """Let it be so many seconds ahead; readers see the whole text or the one before."""
    new = clock.with_suffix(".new")
    new.write_text(f"{offset_s:+d}", encoding="utf-8")
    new.replace(clock)
