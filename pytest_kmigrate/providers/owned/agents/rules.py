"""What Byteman reports of its rules: whether code took them in and came by, or why they do nothing.

Byteman checks a rule when its place in the code is reached first, before the rule's own condition: until then a rule
with a misspelt field looks like any other, and one for a class or method that does not exist always does.
"""

from collections.abc import Iterator

from pytest_kmigrate.model.event import RuleOutcome

FAILED = "failed: "
"""Stands before what Byteman has against a rule."""

_PACKAGE = "org.jboss.byteman.rule.exception."
_MOST_SHOWN = 200


def rules_told(listing: str, script: str) -> dict[str, str]:
    """Each rule of the script of this name, by its name, and what became of it; ``listing``: the answer to LIST."""
    return {name: _outcome(reported) for name, reported in _rules(listing, script)}


def _rules(listing: str, script: str) -> Iterator[tuple[str, list[str]]]:
    """The name of each rule and the lines that follow its text."""
    for block in listing.split("# File ")[1:]:
        head, *lines = block.splitlines()
        if head.rpartition(" line ")[0].endswith(script) and "ENDRULE" in lines:
            yield lines[0].removeprefix("RULE ").strip(), lines[lines.index("ENDRULE") + 1 :]


def _outcome(reported: list[str]) -> str:
    error = next((line for line in reported if "Exception: " in line), None)
    if error is not None:
        return FAILED + error.removeprefix("threw ").removeprefix(_PACKAGE)[:_MOST_SHOWN]
    if "compiled successfully" in reported:
        return RuleOutcome.CARRIED_OUT
    return RuleOutcome.WOVEN if "Transformed in:" in reported else RuleOutcome.NOWHERE
