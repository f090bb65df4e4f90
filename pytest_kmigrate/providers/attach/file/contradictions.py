"""What is wrong in an attach file although each key by itself is right: one sentence each, the key first."""

from collections import Counter
from collections.abc import Iterator

from pytest_kmigrate.providers.attach.file.dialects import dialects
from pytest_kmigrate.providers.attach.file.format import ACTIONS, AttachFile, ClientTable, HooksTable, MetricsTable
from pytest_kmigrate.wire.oauth import CLIENT_ID, CLIENT_SECRET, ENDPOINT, SCOPE

_OIDC = "OAUTHBEARER"


def contradictions(file: AttachFile) -> Iterator[str]:
    """All of them."""
    ids = Counter([*(each.id for each in file.broker), *(each.id for each in file.controller)])
    for node_id in sorted(each for each, count in ids.items() if count > 1):
        yield f"broker and controller: expected each id once, got {node_id} again"
    yield from _in_hooks(file.hooks, file)
    if file.metrics:
        yield from _in_metrics(file.metrics)
    if file.logs and (file.logs.file is None) == (file.logs.command is None):
        yield 'logs: expected exactly one of "file" and "command"'
    yield from _in_login(file.client)
    yield from _in_certificates(file)


def _in_hooks(hooks: HooksTable, file: AttachFile) -> Iterator[str]:
    commands = [action for actions in ACTIONS.values() for action in actions if getattr(hooks, action) is not None]
    if hooks.python and commands:
        yield f'hooks: expected "python" or commands, got both: {", ".join(commands)}'
    for allowed in file.allow:
        lacking = [] if hooks.python else [each for each in ACTIONS[allowed] if each not in commands]
        if lacking:
            yield f'allow: expected hooks.{" and hooks.".join(lacking)} for "{allowed}"; got nothing'


def _in_metrics(metrics: MetricsTable) -> Iterator[str]:
    if metrics.kind == "prometheus" and metrics.dialect is None:
        yield f'metrics: expected "dialect" with kind = "prometheus": one of {", ".join(dialects())}; got nothing'
    if metrics.kind != "prometheus" and (metrics.dialect or metrics.series):
        yield f'metrics: expected no "dialect" and no "series" with kind = "{metrics.kind}"'


def _in_login(client: ClientTable) -> Iterator[str]:
    by_password = {"sasl.username": client.username, "sasl.password": client.password}
    by_token = {ENDPOINT: client.token_endpoint, CLIENT_ID: client.client_id, CLIENT_SECRET: client.client_secret}
    has_token = client.mechanism == _OIDC
    needed = {"sasl.mechanism": client.mechanism, **(by_token if has_token else by_password)}
    others = {**(by_password if has_token else {**by_token, SCOPE: client.scope})}
    is_login = client.protocol.startswith("SASL")
    for key, value in needed.items():
        if is_login and value is None:
            yield f'client: expected "{key}" with "security.protocol" = "{client.protocol}"; got nothing'
        if not is_login and value is not None:
            yield f'client: expected no "{key}" with "security.protocol" = "{client.protocol}"'
    for key, value in others.items():
        if value is not None:
            yield f'client: expected no "{key}" with "sasl.mechanism" = "{client.mechanism}"'


def _in_certificates(file: AttachFile) -> Iterator[str]:
    """A certificate without its key shows nothing of us, and a key alone is for none."""
    for table, each in (("client", file.client), ("quorum", file.quorum)):
        given = {"ssl.certificate.location": each.certificate, "ssl.key.location": each.key}
        lacking = [key for key, value in given.items() if value is None]
        if len(lacking) == 1:
            yield f'{table}: expected "{lacking[0]}" beside the other of both; got nothing'
    tls = file.zookeeper.tls if file.zookeeper else None
    if tls and tls.key and not tls.certificate:
        yield 'zookeeper.tls: expected "certificate" beside "key"; got nothing'
