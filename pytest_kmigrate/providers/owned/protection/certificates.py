"""A certificate authority that lives as long as one cluster, and one certificate per node, all as PEM files."""

import datetime as dt
import ipaddress
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_VALID_FOR = dt.timedelta(days=7)  # longer than any cluster that is kept
_CLOCK_SKEW = dt.timedelta(hours=1)
_CURVE = ec.SECP256R1()


@dataclass(frozen=True)
class Authority:
    """Signs the certificates of one cluster; its key is in memory only and ends with us."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def certificate_file(self, path: Path) -> Path:
        """Write the authority's own certificate: a client that trusts it trusts every node of the cluster."""
        return write_private(path, _pem(self.certificate))

    def key_store(self, path: Path, name: str, addresses: Iterable[str]) -> Path:
        """Write a node's key and certificate, valid under its name and under every address that leads to it."""
        key = ec.generate_private_key(_CURVE)
        names: list[x509.GeneralName] = [x509.DNSName(name)]
        names += [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
        certificate = (
            _unsigned(name, self.certificate.subject, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(
                # a node dials as well as it listens, and Kafka tries its own certificate in both parts
                x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]),
                critical=False,
            )
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
            .sign(self.key, hashes.SHA256())
        )
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return write_private(path, private.decode() + _pem(certificate))


def new_authority(cluster: str) -> Authority:
    """An authority with a fresh key."""
    key = ec.generate_private_key(_CURVE)
    name = f"kmigrate {cluster}"
    certificate = (
        _unsigned(name, _named(name), key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_SIGNS_CERTIFICATES, critical=True)
        .sign(key, hashes.SHA256())
    )
    return Authority(certificate, key)


def write_private(path: Path, text: str) -> Path:
    """Write a file that only this user can read, not even while it is being written."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return path


_SIGNS_CERTIFICATES = x509.KeyUsage(
    key_cert_sign=True,
    crl_sign=True,
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)


def _unsigned(subject: str, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_named(subject))
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + _VALID_FOR)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()
