"""Adapters: those that are shipped, and the words for what is wrong in others."""

from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import TopologyError, WrongUseError
from pytest_kmigrate.providers.docker.adapters.loading import SHIPPED, adapter_at, adapter_for, repository_of

RIGHT = """
libs = "/opt/acme/libs"
[commands]
kafka = ["/opt/acme/start", "{properties}"]
tool = ["/opt/acme/{tool}.sh"]
[environment]
KAFKA_OPTS = "{options}"
"""
WRONG = [
    (
        "libs =",
        "lib =",
        "lib: expected one of images, libs, cannot, commands, environment; got an unknown key; did you",
    ),
    ('libs = "/opt/acme/libs"', "", 'libs: expected the folder in the image with the jars of Kafka, such as "/opt/ka'),
    ('"/opt/acme/libs"', '"libs"', 'libs: expected a folder in the image, such as "/opt/kafka/libs", got "libs"'),
    ('"/opt/acme/libs"', "7", 'libs: expected text, got 7 (without quotes): write libs = "7"'),
    (
        'tool = ["/opt/acme/{tool}.sh"]',
        "",
        "commands.tool: expected the command of Kafka's tools, such as [\"/opt/kafka",
    ),
    (
        'kafka = ["/opt/acme/start", "{properties}"]',
        "",
        "commands.kafka: expected the command that becomes a broker or",
    ),
    ("{tool}", "x", "commands.tool: expected {tool} in one of its words, got a list"),
    ("{properties}", "{file}", "commands.kafka: expected none but {properties} in braces, found {file}, got a list"),
    ('["/opt/acme/{tool}.sh"]', '["{tool}"]', "commands.tool: expected a program by its path in the image, such as ["),
    ('["/opt/acme/{tool}.sh"]', '"/opt/{tool}"', 'commands.tool: expected a list, got "/opt/{tool}"'),
    (
        "tool =",
        'storage = ["x"]\ntool =',
        "commands.storage: expected one of kafka, tool, zookeeper; got an unknown key",
    ),
    ("{options}", "-Xmx1g", "environment: expected a variable by which JVMs get their options, such as KAFKA_OPTS ="),
    ("{options}", "{options} {heap}", "environment: expected none but {options}, {jars} in braces, found {heap}"),
    ("libs =", 'cannot = ["fly"]\nlibs =', "cannot[#1]: expected one of start, reconfigure, install,"),
    ("[environment]", "[environment", "line 6, column 13: expected TOML, got: "),
]


def written(folder: Path, text: str = RIGHT) -> Path:
    """An adapter in a file."""
    file = folder / "acme.toml"
    file.write_text(text)
    return file


def test_an_adapter_is_read(tmp_path: Path) -> None:
    """An image that has no ZooKeeper has no command for it; what it cannot is named."""
    file = written(tmp_path, f'cannot = ["crash-points"]\n{RIGHT}')
    image = adapter_at(file).image("sha256:1")
    assert (image.id, image.kafka) == ("sha256:1", ("/opt/acme/start", "{properties}"))
    assert (image.zookeeper, image.tool) == ((), ("/opt/acme/{tool}.sh",))
    assert (image.environment, image.cannot) == ((("KAFKA_OPTS", "{options}"),), {"crash-points"})


def test_the_adapter_in_the_guide_is_right(tmp_path: Path) -> None:
    """A vendor begins with it."""
    guide = (Path(__file__).parents[4] / "docs" / "how-to" / "test-an-image.md").read_text()
    assert adapter_at(written(tmp_path, guide.partition("```toml")[2].partition("```")[0])).file.commands.zookeeper


@pytest.mark.parametrize(("right", "wrong", "problem"), WRONG)
def test_a_mistake_is_one_sentence_with_file_and_key(tmp_path: Path, right: str, wrong: str, problem: str) -> None:
    """It says what was expected, and what was got."""
    assert right in RIGHT
    file = written(tmp_path, RIGHT.replace(right, wrong))
    with pytest.raises(TopologyError) as raised:
        adapter_at(file)
    assert str(raised.value).startswith(f"{file}: ")
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    ("image", "adapter"),
    [
        ("apache/kafka:3.9.1", "apache-kafka"),
        ("docker.io/apache/kafka", "apache-kafka"),
        ("confluentinc/cp-kafka:7.9.0", "confluent"),
        ("docker.io/bitnami/kafka@sha256:0a", "bitnami"),
        ("quay.io/strimzi/kafka:0.45.0-kafka-3.9.0", "strimzi"),
    ],
)
def test_a_shipped_adapter_is_found_by_the_name_of_an_image(image: str, adapter: str) -> None:
    """Whatever its tag or digest is."""
    assert adapter_for(image).path.stem == adapter


def test_every_shipped_adapter_is_for_some_image() -> None:
    """Otherwise nothing would find it."""
    assert all(adapter_at(path).file.images for path in SHIPPED.glob("*.toml"))


@pytest.mark.parametrize("image", ["acme/kafka", "apache/kafka-native:4.0.0", "localhost:5000/apache/kafka"])
def test_an_image_that_none_is_for_is_refused(image: str) -> None:
    """With those there are, and the way to bring another."""
    expected = f"image:{image}: expected .* none of apache-kafka, bitnami, confluent, strimzi .*image:{image}#ADAPTER"
    with pytest.raises(WrongUseError, match=expected):
        adapter_for(image)


@pytest.mark.parametrize(
    ("image", "repository"),
    [
        ("kafka", "kafka"),
        ("docker.io/library/kafka:1", "kafka"),
        ("localhost:5000/acme/kafka:1", "localhost:5000/acme/kafka"),
        ("acme/kafka:1@sha256:0a", "acme/kafka"),
    ],
)
def test_a_repository_is_a_name_without_tag_and_digest(image: str, repository: str) -> None:
    """The port of a registry is no tag."""
    assert repository_of(image) == repository
