"""Extras: parts that are installed only if they are asked for, and the error where one is needed and is not there."""

from collections.abc import Iterator
from contextlib import contextmanager

from pytest_kmigrate.model.errors import EnvironmentLackError

PROJECT = "pytest-kmigrate"

EXTRAS = {
    "analysis": ("pyspark", "py4j", "pandas", "scipy"),
    "docker": ("docker",),
    "allure": ("allure_pytest",),
}
"""The modules that each extra of the project brings."""


class ExtraLackError(EnvironmentLackError):
    """An extra of this project is not installed; names the command that installs it."""


def install_command(extra: str) -> str:
    """What a user types to have an extra."""
    return f"pip install '{PROJECT}[{extra}]'"


def extra_lack(error: ModuleNotFoundError) -> ExtraLackError | None:
    """The error for a module of an extra that is not there; None for any other module."""
    module = (error.name or "").partition(".")[0]
    extra = next((extra for extra, modules in EXTRAS.items() if module in modules), None)
    if extra is None:
        return None
    return ExtraLackError(
        f"expected the extra [{extra}], which brings {module}; got none, as {PROJECT} was installed without it: "
        f"{install_command(extra)}"
    )


@contextmanager
def extras_named() -> Iterator[None]:
    """Turn the import of a module whose extra is not installed into the error that names the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        lack = extra_lack(error)
        if lack is None:
            raise
        raise lack from error
