"""Checks of the znode tree: the mode is the operator's, state lies where it belongs, owners and offsets as before."""

import re

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_125.evidence.lives import lives
from pytest_kmigrate.documents.kip_125.evidence.writes import EVIDENCE, OFFSET, group_writes, has_writes, sessions
from pytest_kmigrate.documents.kip_125.kinds import MIGRATING, MODE, OWNERS, ROOT
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.events.members import MemberPaused, ZnodeWritten
from pytest_kmigrate.model.history import History, Transaction
from pytest_kmigrate.model.verdict import Verdict

_VALUES, _READ_ONLY, _PARENT = "K125-ZN-mode-values", "K125-ZN-mode-readonly-for-members", "K125-ZN-parent"
_OWNERS, _OFFSETS, _BACK = "K125-ZN-owners-layout", "K125-ZN-offsets-layout", "K125-FAIL-freeze"
_NEEDS = [Capability.ZOOKEEPER_LOG]
_PLACES = re.compile(rf"{ROOT}/(ids|owners|offsets)(/.*)?|{ROOT}/migration(/ids(/[^/]+)?)?")
_OWNER = re.compile(rf"{OWNERS}/[^/]+/\d+")


@checker(_VALUES, _READ_ONLY, _PARENT, in_every_run=has_writes, needs=_NEEDS)
def members_write_only_their_places(history: History) -> Verdict:
    """No member writes the mode, and what members add to the group's tree lies below ``migration``.

    ``migration`` itself stays when members leave. A member with migration writes nothing outside of its group.
    """
    rows = ByRequirement(_VALUES, _READ_ONLY, _PARENT)
    count = 0
    for each, write in group_writes(history):
        count += 1
        if write.path == MODE:
            # An ACL is no mode, and a test's.
            for row in (_VALUES, _READ_ONLY) if write.operation != "set-acl" else ():
                _violate(history, rows, row, each, "no member writes the mode", f"{write.operation} {write.data!r}")
        elif not _PLACES.fullmatch(write.path):
            _violate(
                history, rows, _PARENT, each, f"state lies below {ROOT}/migration", f"{write.operation} {write.path}"
            )
        elif write.path == f"{ROOT}/migration" and write.operation == "create" and write.is_ephemeral:
            _violate(history, rows, _PARENT, each, f"{write.path} is persistent", "it is ephemeral")
    migrating = {session for session, life in sessions(history, lives(history)).items() if life.is_migrating}
    for each in (one for one in history.transactions if one.session in migrating and not one.error):
        for write in each.changes:
            if not (f"{write.path}/".startswith(f"{ROOT}/") or write.path == "/consumers"):
                _violate(
                    history,
                    rows,
                    _PARENT,
                    each,
                    f"state lies below {ROOT}/migration",
                    f"{write.operation} {write.path}",
                )
    if any(write.path.startswith(MIGRATING) for _, write in group_writes(history)):
        rows.looked_at(_PARENT, count)
        rows.looked_at(_VALUES, count)
        # A member has a reason to write it only where the mode and the members disagree, or the mode changes.
        rows.looked_at(_READ_ONLY, len(history.of(ZnodeWritten)))
    text = f"{counted(count, 'change')} of the group's znodes by members, none of the mode"
    return rows.verdict(text, "no member with migration wrote to ZooKeeper")


@checker(_OWNERS, _OFFSETS, in_every_run=has_writes, needs=_NEEDS)
def owners_and_offsets_are_as_before(history: History) -> Verdict:
    """Owner nodes are ephemeral and hold the owner's thread; offsets are persistent decimal text."""
    rows = ByRequirement(_OWNERS, _OFFSETS)
    known = sessions(history, lives(history))
    owners = offsets = 0
    for each, write in group_writes(history):
        if write.operation == "create" and _OWNER.fullmatch(write.path):
            owners += 1
            rows.looked_at(_OWNERS)
            life = known.get(each.session)
            named = life is not None and re.fullmatch(rf"{re.escape(life.consumer_id)}-\d+", write.data or "")
            if not write.is_ephemeral or not named:
                expected = f"{write.path} is ephemeral and holds a thread of its owner"
                _violate(history, rows, _OWNERS, each, expected, f"it holds {write.data!r}")
        elif write.operation in ("create", "set-data") and OFFSET.fullmatch(write.path):
            offsets += 1
            rows.looked_at(_OFFSETS)
            if write.is_ephemeral or not (write.data or "").isdigit():
                _violate(history, rows, _OFFSETS, each, f"{write.path} holds decimal text", f"it holds {write.data!r}")
    text = f"{counted(owners, 'owner node')} and {counted(offsets, 'offset')}, all as older members have them"
    return rows.verdict(text, "no member owned a partition")


@checker(_BACK, in_every_run=has_writes, needs=_NEEDS)
def zookeeper_offsets_never_run_backwards(history: History) -> Verdict:
    """No write to an offset node is below the one before.

    It speaks for members that stood still: a former owner must not overwrite its successor's offset. Kafka's store
    cannot be guarded while ZooKeeper decides, as the broker does not look at assignments; its next commit mends that.
    """
    rows = ByRequirement(_BACK)
    has_paused = bool(history.of(MemberPaused))
    last: dict[str, int] = {}
    count = 0
    for each, write in group_writes(history):
        if not (OFFSET.fullmatch(write.path) and (write.data or "").isdigit()):
            continue
        offset, count = int(write.data or 0), count + 1
        if offset < last.get(write.path, 0):
            expected = f"{write.path} stays at {last[write.path]} or above"
            _violate(history, rows, _BACK, each, expected, f"{offset} was written")
        last[write.path] = max(offset, last.get(write.path, 0))
    if has_paused:
        rows.looked_at(_BACK, count)
    text = f"{counted(count, 'write')} of offsets, none below the one before"
    return rows.verdict(text, "no member stood still, or none wrote an offset", writes=count)


def _violate(history: History, rows: ByRequirement, row: str, at: Transaction, expected: str, observed: str) -> None:
    rows.violated(row, timed_violation(history, expected, observed, at.at_ns, EVIDENCE))
