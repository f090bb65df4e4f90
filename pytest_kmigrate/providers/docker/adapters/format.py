"""What an adapter may hold: one pydantic model per TOML table, strict, each key with what it means."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.providers.owned.commands import JARS, OPTIONS
from pytest_kmigrate.topology.braces import only

PROPERTIES, TOOL = "properties", "tool"


def _folder(text: str) -> str:
    if not text.startswith("/"):
        raise ValueError('expected a folder in the image, such as "/opt/kafka/libs"')
    return text


def _capability(name: str) -> str:
    if name not in tuple(Capability):
        raise ValueError(f"expected one of {', '.join(Capability)}")
    return name


def _words(words: list[str], place: str) -> list[str]:
    if not words or not words[0].startswith("/"):
        raise ValueError('expected a program by its path in the image, such as ["/opt/kafka/bin/kafka-storage.sh"]')
    only(words, (place,))
    if not any(f"{{{place}}}" in word for word in words):
        raise ValueError(f"expected {{{place}}} in one of its words")
    return words


def _node(words: list[str]) -> list[str]:
    return _words(words, PROPERTIES)


def _tool(words: list[str]) -> list[str]:
    return _words(words, TOOL)


def _environment(variables: dict[str, str]) -> dict[str, str]:
    only(variables.values(), (OPTIONS, JARS))
    if not any(f"{{{OPTIONS}}}" in text for text in variables.values()):
        raise ValueError(f'expected a variable by which JVMs get their options, such as KAFKA_OPTS = "{{{OPTIONS}}}"')
    return variables


class _Table(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class CommandsTable(_Table):
    """What is run in the image."""

    kafka: Annotated[list[str], AfterValidator(_node)] = Field(
        description='the command that becomes a broker or controller, such as ["/opt/kafka/bin/kafka-server-start.sh", '
        f'"{{{PROPERTIES}}}"]'
    )
    tool: Annotated[list[str], AfterValidator(_tool)] = Field(
        description=f'the command of Kafka\'s tools, such as ["/opt/kafka/bin/{{{TOOL}}}.sh"]'
    )
    zookeeper: Annotated[list[str], AfterValidator(_node)] | None = Field(
        default=None, description="the command that becomes a server of ZooKeeper; default: the image has none"
    )


class AdapterFile(_Table):
    """The file."""

    images: list[str] = Field(default=[], description="repositories that it is for, such as acme/kafka; * is any text")
    libs: Annotated[str, AfterValidator(_folder)] = Field(
        description='the folder in the image with the jars of Kafka, such as "/opt/kafka/libs"'
    )
    cannot: list[Annotated[str, AfterValidator(_capability)]] = Field(
        default=[], description="capabilities that clusters of the image lack; default: they can do everything"
    )
    commands: CommandsTable = Field(description="a table [commands]: what is run in the image")
    environment: Annotated[dict[str, str], AfterValidator(_environment)] = Field(
        description=f'a table [environment], such as KAFKA_OPTS = "{{{OPTIONS}}}"'
    )


TABLES: dict[tuple[str, ...], type[BaseModel]] = {(): AdapterFile, ("commands",): CommandsTable}
"""Where each table stands in a file."""
