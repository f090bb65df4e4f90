"""Fewer calls from PySpark to its JVM: each takes a tenth of a millisecond, and an analysis made 26,000.

By default a list is sent element by element, and a class or function of the JVM is looked up by name for every column:
for a name without a package that searches all of Spark's 300 jars, several times over.
"""

from collections.abc import Sequence
from typing import Any

from py4j.java_gateway import JavaClass  # type: ignore[import-untyped]  # PySpark's bridge has no types
from py4j.protocol import register_input_converter  # type: ignore[import-untyped]

_OFTEN_NAMED = (
    "PythonUtils",
    "PythonSQLUtils",
    "functions",
    "org.apache.spark.sql.functions",
    "org.apache.spark.sql.classic.SparkSession",
    "org.apache.spark.sql.expressions.Window",
)
"""Classes of the JVM that PySpark asks for by these names."""

_AT_ONCE = 10
"""Java makes a list of so many elements in one call."""


class Remembered:
    """A class of the JVM whose members are looked up once."""

    def __init__(self, named: Any) -> None:
        self._named = named

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._named, name)
        setattr(self, name, found)
        return found

    def __call__(self, *arguments: Any) -> Any:
        """Make one."""
        return self._named(*arguments)


class Lists:
    """Makes Python's lists Java's, ten elements to a call."""

    def __init__(self) -> None:
        self._of: tuple[Any, Any] | None = None

    def can_convert(self, given: object) -> bool:
        """Whether it is a list that Java can hold so: none of its immutable ones holds null."""
        return type(given) is list and not any(each is None for each in given)

    def convert(self, given: Sequence[Any], client: Any) -> Any:
        """The list of Java."""
        if self._of is None or self._of[0] is not client:
            self._of = client, JavaClass("java.util.List", client).of
        of = self._of[1]
        if len(given) <= _AT_ONCE:
            return of(*given)
        whole = JavaClass("java.util.ArrayList", client)()
        for at in range(0, len(given), _AT_ONCE):
            whole.addAll(of(*given[at : at + _AT_ONCE]))
        return whole


register_input_converter(Lists(), prepend=True)


def remember(jvm: Any) -> None:
    """Keep what PySpark looks up by name for every column and every list of them."""
    for name in _OFTEN_NAMED:
        setattr(jvm, name, Remembered(getattr(jvm, name)))
