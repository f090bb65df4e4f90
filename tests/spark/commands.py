"""The console command, run in this process, where Spark is there already."""

import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import pytest

from pytest_kmigrate.cli import main


def kmigrate(*arguments: object) -> tuple[int, str]:
    """``kmigrate`` with these arguments: its exit status, and all it printed."""
    printed = StringIO()
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(printed), redirect_stderr(printed):
        patched.setattr(sys, "argv", ["kmigrate", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
    return int(str(ended.value.code)), printed.getvalue()
