"""Encrypted passwords can be compared when the secret is known."""

import pytest

from pytest_kmigrate.probes.encoded_password import decoded_password, is_encoded
from pytest_kmigrate.probes.znodes import image_from_znodes
from pytest_kmigrate.redaction import hashed

ENCODED = (
    "initializationVector:HLKt0J7+HZc+UsVJxNuxbg==,keyLength:128,salt:nJEW8bkQdR6sdQOHCiKuD8Kx5dRhrxrWNOtZwRIsQSNREdjY"
    "/06D/5+y+Sdt/ckUoavcjjXMc4PKHYQ0nYe+agpV5Ea6TjCN7jp40roe2ORjk5OHL8/zcCXsW1ruyKfW3/W6kjnClX8R+AwtQxMrT829CoOylcs0"
    "QJUyvDwPZVXwx0/aP7n97yivpTfNhJB7q0r1lB+EiEOjR56fWT9MY+nmSEz2bseCRb/3GZ7E3tDAc52viQ5RIDAnBSg6IzY3a3meNZA4TaIltArl"
    "AyIIyBfjPqVuiS+W1XMm7G2OAFTOlOb37WhQqLdPyOaiwYEjEr0/5M6DsafGdr8rD+tUsQ==,keyFactoryAlgorithm:PBKDF2WithHmacSHA512"
    ",cipherAlgorithm:AES/CBC/PKCS5Padding,iterations:4096,passwordLength:15,encryptedPassword:ti7liCSNeuPFziZIU+zZ6w=="
)
"""Written by a 3.9.1 broker of a throw-away cluster for "lab-keystore-pw" with the secret "lab-encoder-secret"."""


def test_a_password_that_a_real_broker_encrypted_is_read() -> None:
    """The format of Kafka's own encoder is understood."""
    assert is_encoded(ENCODED)
    assert not is_encoded("plain")
    assert decoded_password(ENCODED, "lab-encoder-secret") == "lab-keystore-pw"


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        (ENCODED, "another-secret"),
        ("encryptedPassword:x", "lab-encoder-secret"),
        (ENCODED.replace("AES/CBC", "AES/GCM"), "lab-encoder-secret"),
        (ENCODED.replace("Length:15", "Length:14"), "lab-encoder-secret"),
    ],
)
def test_a_password_that_cannot_be_read_is_none(value: str, secret: str) -> None:
    """A wrong secret, missing parts, other ciphers and a wrong length give None instead of a wrong password."""
    assert decoded_password(value, secret) is None


def test_with_the_secret_zookeeper_and_log_compare() -> None:
    """The image holds the hash of the password itself, as the log's image does; without the secret it cannot."""
    value = f'{{"config":{{"ssl.keystore.password":"{ENCODED}"}}}}'.encode()
    read = image_from_znodes({"/config/brokers/1": value}, "lab-encoder-secret")
    assert read.configs["broker:1"]["ssl.keystore.password"] == hashed("lab-keystore-pw")
    blind = image_from_znodes({"/config/brokers/1": value})
    assert blind.configs["broker:1"]["ssl.keystore.password"] == hashed(ENCODED)
