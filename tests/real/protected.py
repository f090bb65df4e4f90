"""Runs of clusters with protected listeners, and what their listeners say to whom."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from kio.schema.errors import ErrorCode
from kio.schema.sasl_handshake.v1.request import SaslHandshakeRequest
from kio.schema.sasl_handshake.v1.response import SaslHandshakeResponse

from pytest_kmigrate.judging import checks
from pytest_kmigrate.model.checks import Check
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.model.topology import Listener, Role
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.providers.owned.network.addresses import CLIENT_PORT, CONTROLLER_PORT, INTERNAL_PORT
from pytest_kmigrate.providers.process.provider import ProcessProvider
from pytest_kmigrate.reports.one_run.run_reports import write_run_reports
from pytest_kmigrate.running import Claim, Run, RunSettings, open_run
from pytest_kmigrate.topology.loading import find, load
from pytest_kmigrate.wire.admin import cluster_at
from pytest_kmigrate.wire.request import ask
from pytest_kmigrate.wire.tokens import Token, tokens_at

CLIENTS_ARE_SERVED = (
    checks.no_acked_record_lost(),
    checks.no_phantom_record(),
    checks.order_kept_per_partition(),
    checks.no_duplicate_from_idempotent_producer(),
    checks.consumer_positions_never_run_backwards(),
)
_LISTENERS = (
    (Role.BROKER, Listener.INTERNAL, INTERNAL_PORT),
    (Role.BROKER, Listener.CLIENT, CLIENT_PORT),
    (Role.CONTROLLER, Listener.CONTROLLER, CONTROLLER_PORT),
)


def ran(
    topology: str | Path,
    runs: Path,
    act: Callable[[Run], None],
    more: Iterable[Check],
    *,
    commit: str | None = None,
    clocks: bool = False,
) -> None:
    """One run with traffic, everything in it conforming; so many writes that consumers have joined and read.

    What shows a bug of Kafka by evidence of its own is Kafka's: any run may meet some. ``commit``: what its Kafka was
    built from, by the user's word; ``clocks``: each node has a clock of its own.
    """
    wish = load(find(topology))
    asked = [*CLIENTS_ARE_SERVED, *more]
    settings, provider = RunSettings(runs, seed=1, commit=commit, clocks=clocks), ProcessProvider(print)
    with open_run(settings, provider, wish, Claim(__name__), write_run_reports) as run:
        run.traffic.start()
        act(run)
        run.traffic.await_acked(2500)
        counted = [verdict for verdict in run.verify(asked).verdicts if verdict.counts]
        outcomes = {
            verdict.check: (Outcome.CONFORMS if verdict.known_bugs else verdict.outcome, verdict.summary)
            for verdict in counted
        }
    assert {name: outcomes[name] for name in outcomes if outcomes[name][0] is Outcome.VIOLATES} == {}
    assert {
        check.name: outcomes[check.name] for check in asked if outcomes[check.name][0] is not Outcome.CONFORMS
    } == {}


def leaks(folder: Path, secrets: Iterable[str]) -> list[str]:
    """The files that have one of the secrets in them, as bytes."""
    sought = [secret.encode() for secret in secrets]
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files
    return sorted(str(file.relative_to(folder)) for file in files if any(each in file.read_bytes() for each in sought))


def known_tokens(run: Run) -> dict[str, Token]:
    """The delegation tokens that the first broker knows."""
    return tokens_at(run.cluster.peer(run.cluster.nodes(Role.BROKER)[0].name))[1]


def refused(run: Run, **wrong: str) -> bool:
    """Whether a broker turns away a client that differs from ours in this."""
    peer = run.cluster.peer(run.cluster.nodes(Role.BROKER)[0].name)
    assert cluster_at(peer)[1]
    try:
        cluster_at(replace(peer, security={**peer.security, **wrong}))
    except ClusterError:
        return True
    return False


def spoken(run: Run) -> dict[str, set[str]]:
    """By listener the protocols, and the mechanisms of a login, that any running node of the cluster answers to."""
    answers: dict[str, set[str]] = {listener: set() for _, listener, _ in _LISTENERS}
    authority = run.cluster.scratch / "security" / "authority.pem"
    trust = {"ssl.ca.location": str(authority)} if authority.exists() else {}
    for role, listener, port in _LISTENERS:
        for node in run.cluster.nodes(role):
            for base in ("PLAINTEXT", "SSL"):
                peer = Peer(f"{node.address}:{port}", {"security.protocol": base, **trust})
                answers[listener] |= _answers(peer, base) if node.alive else set()
    return answers


def _answers(peer: Peer, base: str) -> set[str]:
    """Asked for mechanisms, a listener without a login says that this is no moment for it; another kind hangs up."""
    try:
        answer = ask(peer, SaslHandshakeRequest(mechanism="any"), SaslHandshakeResponse)
    except ClusterError:
        return set()
    is_open = answer.error_code is ErrorCode.illegal_sasl_state
    return {base} if is_open else {f"SASL_{base} by {', '.join(answer.mechanisms)}"}
