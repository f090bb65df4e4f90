"""The client's half of a SCRAM exchange."""

import pytest

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.wire.scram import ScramClient

NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
PROOF = b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


@pytest.fixture
def client() -> ScramClient:
    """The client of the example in RFC 7677, section 3."""
    return ScramClient("SCRAM-SHA-256", "user", "pencil", NONCE)


def test_the_published_example_comes_out(client: ScramClient) -> None:
    """First message, proof and the server's signature are those of RFC 7677."""
    assert client.first() == b"n,,n=user,r=" + NONCE.encode()
    assert client.final(SERVER_FIRST).endswith(b"," + PROOF)
    client.verify(SERVER_FINAL)


def test_a_server_that_does_not_know_the_password_is_refused(client: ScramClient) -> None:
    """The exchange proves both sides."""
    client.final(SERVER_FIRST)
    with pytest.raises(ClusterError, match="prove"):
        client.verify(b"v=" + PROOF[2:])


def test_an_answer_to_another_exchange_is_refused(client: ScramClient) -> None:
    """A nonce that does not begin with ours is not an answer to us."""
    with pytest.raises(ClusterError, match="nonce"):
        client.final(SERVER_FIRST.replace(b"r=r", b"r=x"))


def test_an_awkward_name_is_written_as_the_standard_says() -> None:
    """Commas and equals signs separate attributes, so a name cannot hold them as they are."""
    assert ScramClient("SCRAM-SHA-512", "CN=o,x", "p", "n").first() == b"n,,n=CN=3Do=2Cx,r=n"


def test_a_token_s_login_says_that_it_is_one() -> None:
    """Kafka's extension stands in the first message, and is signed with it: the same password proves otherwise."""
    login = ScramClient("SCRAM-SHA-256", "user", "pencil", NONCE, is_token=True)
    assert login.first() == b"n,,n=user,r=" + NONCE.encode() + b",tokenauth=true"
    assert PROOF not in login.final(SERVER_FIRST)
