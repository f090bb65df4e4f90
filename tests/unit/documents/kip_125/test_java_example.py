"""The example of an adapter in Java, which the how-to points at, compiles against Kafka's released jars."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pytest_kmigrate.distributions.kafka import resolve

EXAMPLE = Path(__file__).parents[4] / "docs" / "how-to" / "examples" / "Member.java"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("javac") is None, reason="a machine without a JDK has no compiler")
def test_the_example_compiles(tmp_path: Path) -> None:
    """With no warning of the compiler's own set."""
    jars = os.pathsep.join(str(each) for each in resolve("3.9.1", progress=print, archive=False).jars)
    words = ["javac", "-Xlint:deprecation", "-Werror", "-cp", jars, "-d", str(tmp_path), str(EXAMPLE)]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_how_to_points_at_the_example() -> None:
    """Whose first lines show how it is run."""
    page = (EXAMPLE.parents[1] / "put-a-consumer-under-kip-125.md").read_text(encoding="utf-8")
    assert "(examples/Member.java)" in page
    assert "kmigrate consumers validate" in EXAMPLE.read_text(encoding="utf-8")[:800]
