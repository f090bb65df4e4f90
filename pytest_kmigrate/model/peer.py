"""Peer: one broker as a client finds it."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Peer:
    """A broker's ``host:port`` and how to be let in: librdkafka's security properties, none for a plain listener.

    Understood: ``security.protocol`` (PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL), ``ssl.ca.location``,
    ``ssl.endpoint.identification.algorithm``, ``sasl.mechanism`` (SCRAM), ``sasl.username``, ``sasl.password``.
    """

    address: str
    security: Mapping[str, str] = field(default_factory=dict, repr=False)
