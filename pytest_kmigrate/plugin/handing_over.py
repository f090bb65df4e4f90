"""What workers of pytest-xdist hand over: why they refuse to run, and what results of Allure are about."""

from collections.abc import Generator
from typing import Any

import pytest

REFUSED = "kmigrate_refused"
"""The key under which a worker hands over why it runs no test. pytest would only show a worker that broke."""

REFUSALS = pytest.StashKey[list[str]]()
"""What was wrong as tests were made of files, until all of it is refused at once.

An error of a collector would be a red test to a worker's parent, and end the session with 1, as a violation does.
"""

ENVIRONMENT = "kmigrate_allure_environment"
"""The key under which a worker hands over what all its results for Allure have in common."""

OUTCOME = "kmigrate_outcome"
"""The property of a test's report that has the outcome of its run."""


def refuse(config: pytest.Config, items: list[pytest.Item]) -> None:
    """pytest.UsageError with all that was wrong as tests were made; none is left to be counted."""
    if found := config.stash.get(REFUSALS, []):
        items.clear()
        raise pytest.UsageError("\n".join(dict.fromkeys(found)))


class Refusals:
    """What workers of pytest-xdist refused, in the process that started them: it ends as it would without them."""

    def __init__(self) -> None:
        self._refused: str | None = None

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker has ended, and may have refused its tests; all of them refuse the same."""
        self._refused = getattr(node, "workeroutput", {}).get(REFUSED, self._refused)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Refuse it once they are gone."""
        is_done = yield
        if self._refused is not None:
            raise pytest.UsageError(self._refused)
        return is_done
