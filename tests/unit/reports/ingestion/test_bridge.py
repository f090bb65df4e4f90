"""What PySpark sends to its JVM: lists in few calls, and no name twice; here without a JVM."""

from typing import Any

import pytest

from pytest_kmigrate.reports.ingestion import bridge
from pytest_kmigrate.reports.ingestion.bridge import Lists, Remembered


class _Jvm:
    """Java's lists, and how often the JVM was asked for anything."""

    def __init__(self) -> None:
        self.calls = 0

    def named(self, name: str, _client: object) -> Any:
        """A class of the JVM."""
        return {"java.util.List": self, "java.util.ArrayList": self.new}[name]

    def of(self, *elements: object) -> list[object]:
        """Java's ``List.of``."""
        self.calls += 1
        return list(elements)

    def new(self) -> "_Whole":
        """An empty ``ArrayList``."""
        self.calls += 1
        return _Whole(self)


class _Whole(list[object]):
    def __init__(self, jvm: _Jvm) -> None:
        super().__init__()
        self._jvm = jvm

    def addAll(self, more: list[object]) -> None:  # noqa: N802  # Java's name
        """Java's."""
        self._jvm.calls += 1
        self.extend(more)


@pytest.mark.parametrize(("size", "most_calls"), [(0, 1), (1, 1), (10, 1), (11, 5), (25, 7)])
def test_a_list_goes_over_in_few_calls(size: int, most_calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All elements, in order; element by element it would be a call for each and one more."""
    jvm = _Jvm()
    monkeypatch.setattr(bridge, "JavaClass", jvm.named)

    assert Lists().convert(list(range(size)), object()) == list(range(size))
    assert jvm.calls <= most_calls


@pytest.mark.parametrize("other", [(1, 2), "text", {"a": 1}, bytearray(b"a"), [1, None]])
def test_what_is_no_plain_list_is_left_to_py4j(other: object) -> None:
    """Java's lists of a few elements hold no null."""
    assert not Lists().can_convert(other)
    assert Lists().can_convert([1, "a"])


def test_a_member_of_a_class_is_looked_up_once() -> None:
    """Also by threads that ask for it later."""
    asked: list[str] = []

    class Named:
        def __getattr__(self, name: str) -> str:
            asked.append(name)
            return name.upper()

    remembered = Remembered(Named())

    assert [remembered.lit, remembered.col, remembered.lit] == ["LIT", "COL", "LIT"]
    assert asked == ["lit", "col"]
