"""Where in a test something went wrong, as ``file:line``."""

import os
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import pytest

Error = TypeVar("Error", bound=BaseException)


def place_of(item: pytest.Item, error: BaseException | None = None) -> str:
    """The last line of the test's own file that an error passed through; without one, where the test is defined."""
    _, defined, _ = item.location
    own = [line for file, line in _lines(error.__traceback__ if error else None) if file == item.path]
    return f"{_shown(item.path)}:{own[-1] if own else (defined or 0) + 1}"


def within_test(item: pytest.Item, error: Error) -> Error:
    """The error with a traceback that ends in the test's own file, so that a debugger stands there; else as it is."""
    frames = []
    traceback = error.__traceback__
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    own = [number for number, each in enumerate(frames) if Path(each.tb_frame.f_code.co_filename) == item.path]
    if not own:
        return error
    ending = None
    for each in reversed(frames[: own[-1] + 1]):
        ending = TracebackType(ending, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return error.with_traceback(ending)


def _lines(traceback: TracebackType | None) -> list[tuple[Path, int]]:
    lines = []
    while traceback is not None:
        lines.append((Path(traceback.tb_frame.f_code.co_filename), traceback.tb_lineno))
        traceback = traceback.tb_next
    return lines


def _shown(file: Path) -> str:
    """Relative to the current folder, where it lies below it: terminals and editors open that."""
    return os.path.relpath(file) if file.is_relative_to(Path.cwd()) else str(file)
