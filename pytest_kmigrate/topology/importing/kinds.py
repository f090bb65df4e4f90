"""The kind of files: by what is in them, or as the user says."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_kmigrate.model.errors import TopologyError, WrongUseError
from pytest_kmigrate.topology.importing import compose, cp_ansible, properties_files, strimzi
from pytest_kmigrate.topology.importing.found import Found
from pytest_kmigrate.topology.importing.sources import Source
from pytest_kmigrate.topology.importing.yaml_text import At, documents

_YAML = (".yml", ".yaml", ".json")


@dataclass(frozen=True)
class _Kind:
    """A kind whose files are YAML."""

    is_one: Callable[[At], bool]
    found_in: Callable[[Sequence[At]], Found]
    described: str


_KINDS: Mapping[str, _Kind] = {
    strimzi.KIND: _Kind(strimzi.is_one, strimzi.found_in, "Kafka and KafkaNodePool resources of Strimzi"),
    cp_ansible.KIND: _Kind(cp_ansible.is_one, cp_ansible.found_in, "an inventory of cp-ansible in YAML"),
    compose.KIND: _Kind(compose.is_one, compose.found_in, "a compose file with services of Kafka"),
}
KINDS = (properties_files.KIND, *_KINDS)
_EXPECTED = "expected server.properties of Kafka, zoo.cfg, " + ", ".join(kind.described for kind in _KINDS.values())


def found_in(sources: Sequence[Source], kind: str | None = None) -> Found:
    """What the files show. ``kind``: what they are, where that cannot be seen."""
    if kind is not None and kind not in KINDS:
        raise WrongUseError(f"--kind: expected one of {', '.join(KINDS)}, got {kind!r}")
    for source in sources:
        if source.is_named and not source.text.strip():
            raise TopologyError(source.path, ["expected settings of a cluster, got an empty file"])
    kinds = {source.path: kind or _kind_of(source) for source in sources}
    of_use = [source for source in sources if kinds[source.path]]
    if not of_use:
        raise TopologyError(sources[0].path, [f"{_EXPECTED}, got none of them: give the files of the nodes"])
    first = kinds[of_use[0].path]
    for source in of_use:
        if kinds[source.path] != first:
            text = f"expected files of one kind, got {kinds[source.path]} beside {first} ({of_use[0].path})"
            raise TopologyError(source.path, [f"{text}: import them one by one, or say which with --kind"])
    if first == properties_files.KIND:
        return properties_files.found_in(of_use)
    of_kind = _KINDS[str(first)]
    at = [each for source in of_use for each in documents(source)]
    if not any(map(of_kind.is_one, at)):
        raise TopologyError(of_use[0].path, [f"expected {of_kind.described}, got something else"])
    found = of_kind.found_in(at)
    if not found.nodes:
        raise TopologyError(of_use[0].path, ["expected the nodes of a cluster, got a count of none"])
    return found


def _kind_of(source: Source) -> str | None:
    """The kind; None for a file of a folder that shows no node. A file that was named has to be of a kind."""
    kind: str | None = None
    if source.path.endswith(_YAML) or _looks_like_yaml(source.text):
        at = _documents(source)
        kind = next((name for name, each in _KINDS.items() if any(map(each.is_one, at))), None)
    elif properties_files.is_one(source):
        kind = properties_files.KIND
    if kind is None and source.is_named:
        raise TopologyError(source.path, [f"{_EXPECTED}, got something else{_hint(source)}"])
    return kind


def _documents(source: Source) -> Sequence[At]:
    try:
        return documents(source)
    except TopologyError:
        if source.is_named:
            raise
        return []


def _looks_like_yaml(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    return bool(lines) and (lines[0].startswith(("---", "{")) or lines[0].rstrip().endswith(":") or ": " in lines[0])


def _hint(source: Source) -> str:
    if any(line.startswith("[") and "]" in line for line in source.text.split("\n")):
        return ": an inventory of other form is printed as YAML by `ansible-inventory -i FILE --list --yaml --export`"
    return ""
