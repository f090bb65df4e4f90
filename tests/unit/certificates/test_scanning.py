"""The second scan: what the recorder's forms do not know is found by others' rules, or by the values themselves."""

import base64
import gzip
import random
import string
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pytest_kmigrate.certificates import gitleaks
from pytest_kmigrate.certificates.scanning import learn_secrets, must_hold_no_secret
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.redaction import redacted
from pytest_kmigrate.redaction.known import learn

pytestmark = pytest.mark.usefixtures("nothing_known")

LETTERS = "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=200))
HEX = "".join(random.Random(7).choices(string.hexdigits.lower()[:16], k=200))
TOKENS = {  # made here, so that no scanner takes this file for a leak
    "sendgrid-api-token": "SG" + f".{LETTERS[:66].lower()}",
    "shopify-access-token": "shpat" + f"_{HEX[:32]}",
    "digitalocean-pat": "dop_v1" + f"_{HEX[:64]}",
    "databricks-api-token": "dapi" + HEX[:32],
    "doppler-api-token": "dp.pt" + f".{LETTERS[:43].lower()}",
    "postman-api-token": "PMAK" + f"-{HEX[:24]}-{HEX[:34]}",
    "linear-api-key": "lin_api" + f"_{LETTERS[:40]}",
    "planetscale-password": "pscale_pw" + f"_{LETTERS[:40]}",
    "age-secret-key": "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" + "QPZRY9X8GF2TVDW0S3JN54KHCE",
}
SECRET = "s0mething-known/+"


def test_every_rule_is_one_of_python() -> None:
    """They are written for Go; a flag within an expression is another thing there."""
    ids = {each.id for each in gitleaks.rules()}
    assert len(ids) > 200
    assert TOKENS.keys() <= ids
    assert gitleaks._python(r"a(?:b(?i)c|d)e\z") == r"a(?:b(?i:c)|(?i:d))e\Z"
    assert gitleaks._python("a(?i)[|)]b") == "a(?i:[|)]b)"


@pytest.mark.parametrize("rule", TOKENS)
def test_what_only_the_rules_of_others_know_is_found(rule: str, tmp_path: Path) -> None:
    """In the middle of a line, whatever is before it."""
    line = f"INFO it went on with {TOKENS[rule]} there\n"
    assert redacted(line) == line
    with pytest.raises(
        WrongUseError, match=rf"x\.log: line 2: .*, got what gitleaks calls {rule}: nothing was"
    ) as caught:
        must_hold_no_secret(tmp_path / "x.log", f"first\n{line}".encode())
    assert TOKENS[rule] not in str(caught.value)


def _parquet(text: str) -> bytes:
    file = BytesIO()
    pq.write_table(pa.table({"x": [text] * 9}), file, compression="zstd")
    return file.getvalue()


PLACES: dict[str, Callable[[str], bytes]] = {
    "a.log": lambda text: f"x\n{text}\n".encode(),
    "a.bin": lambda text: b"\0\xff" + text.encode() + b"\0",
    "a.gz": lambda text: gzip.compress(text.encode()),
    "a.parquet": _parquet,
    "a.jsonl": lambda text: f'{{"a": "{text}"}}\n'.encode(),
}
SPELLED: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "base64": lambda text: base64.b64encode(f"user:{text}".encode()).decode(),
    "url": lambda text: text.replace("/", "%2F").replace("+", "%2B"),
    "hex": lambda text: text.encode().hex(),
}


@pytest.mark.parametrize("spelled", SPELLED)
@pytest.mark.parametrize("name", PLACES)
def test_a_known_value_is_found_in_any_file(name: str, spelled: str, tmp_path: Path) -> None:
    """However it is spelled, and packed."""
    content = PLACES[name](SPELLED[spelled](SECRET))
    must_hold_no_secret(tmp_path / name, content)
    learn([SECRET])
    with pytest.raises(WrongUseError, match=r"got a known value, (as it is|encoded): nothing was packed") as caught:
        must_hold_no_secret(tmp_path / name, content)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("name", PLACES)
def test_a_token_is_found_in_any_file(name: str, tmp_path: Path) -> None:
    """Of bytes that are no text what can be read in them."""
    with pytest.raises(WrongUseError, match="gitleaks calls shopify-access-token"):
        must_hold_no_secret(tmp_path / name, PLACES[name](TOKENS["shopify-access-token"]))


@pytest.mark.parametrize(
    "text",
    [
        '{"sha256": "' + HEX[:64] + '", "token digest": "' + HEX[:64] + '", "token": "hidden:0123456789ab"}',
        '{"topology_digest": "' + HEX[64:128] + '", "session": "' + HEX[:32] + '"}',
        "TopicRecord(name='orders', topicId=qJjwUtwgQF-EgG0gGS0o0w) key=17 accessKey=[hidden]",
        '{"names": ["sasl.jaas.config", "ssl.keystore.location", "ssl.key.password"]}',
        '"checkpoint": {\n   "key": "hybrid-' + HEX[:16] + '",\n   "state": "HYBRID"',
        '{"data": {"checkpoint": {"key": "preparing-' + HEX[16:32] + '"}}}',
        "Processing Token Notification for tokenId: " + LETTERS[:22] + " (kafka.server.DelegationTokenManagerZk)",
        '{"expirationTimestamp": 1796043227675, "tokenId": "' + LETTERS[22:44] + '"}',
        "password=*** secret=sha256:0123456789ab -----BEGIN CERTIFICATE",
    ],
)
def test_ids_and_digests_are_no_secrets(text: str, tmp_path: Path) -> None:
    """Evidence is full of them; a scan that raised on these would have to be switched off."""
    must_hold_no_secret(tmp_path / "a.jsonl", text.encode())


def test_values_are_given_by_a_file_or_by_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line each; a variable counts if it is named like a secret."""
    file = tmp_path / "secrets"
    file.write_text("one-of-the-file\n\ntwo-of-the-file\n")
    monkeypatch.setenv("ACME_TOKEN", "one-of-a-variable")
    learn_secrets(file)
    for value in ("one-of-the-file", "two-of-the-file", "one-of-a-variable"):
        with pytest.raises(WrongUseError, match="got a known value"):
            must_hold_no_secret(tmp_path / "x.log", f"so {value}.".encode())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "--secrets .*secrets: expected a file with a secret a line, got No such file or directory"),
        (b"\xff\xfe\n", "got bytes that are no UTF-8"),
        (b"good-enough-1\nkafka\n", "line 2 of those with text: expected a value of eight characters or more"),
    ],
)
def test_a_bad_file_of_values_is_one_sentence(content: bytes | None, message: str, tmp_path: Path) -> None:
    """What would be found everywhere, or nowhere, is refused before anything is judged."""
    file = tmp_path / "secrets"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(WrongUseError, match=message) as caught:
        learn_secrets(file)
    assert "kafka" not in str(caught.value)
