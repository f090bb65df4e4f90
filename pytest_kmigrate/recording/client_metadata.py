"""Answers of brokers to clients, written with only those topics that differ from the broker's answer before."""

from collections.abc import Callable, Mapping

from pytest_kmigrate.model.history import ClientMetadata


class ClientLines:
    """Writes answers, in the order in which each broker gave them."""

    def __init__(self) -> None:
        self._last: dict[str, Mapping[str, str]] = {}

    def line(self, answer: ClientMetadata) -> dict[str, object]:
        """The line of an answer; of the topics only the changed ones, and null for those that are gone."""
        before = self._last.get(answer.node, {})
        self._last[answer.node] = answer.topics
        changed: dict[str, str | None] = dict.fromkeys(before.keys() - answer.topics.keys())
        changed |= {name: text for name, text in answer.topics.items() if before.get(name) != text}
        return {
            "at_ns": answer.at_ns,
            "node": answer.node,
            "controller": answer.controller,
            "brokers": answer.brokers,
            "topics": changed,
        }


def client_answers() -> Callable[..., ClientMetadata]:
    """What makes answers of the keys of their lines, when it is called for one line after the other."""
    last: dict[str, Mapping[str, str]] = {}

    def answer(
        at_ns: int, node: str, controller: int, brokers: list[int], topics: Mapping[str, str | None]
    ) -> ClientMetadata:
        held = last.get(node, {})
        if topics:
            whole = {**held, **topics}
            held = {name: text for name, text in whole.items() if text is not None}
        last[node] = held
        return ClientMetadata(at_ns, node, controller, tuple(brokers), held)

    return answer
