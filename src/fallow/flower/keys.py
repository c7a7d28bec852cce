"""Keys of a federation: an authority of its own, a certificate for the server, and a key pair for each node."""

import ipaddress
import os
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from fallow.errors import FallowError

AUTHORITY = "ca"
SERVER = "server"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
CURVE = ec.SECP384R1


class KeyFileError(FallowError):
    """Keys can't be written or read."""


def make_keys(directory: Path, nodes: int, hosts: Iterable[str] = (), days: int = 365) -> list[Path]:
    """Makes what is missing of a federation's keys; what is there is never written over.

    Args:
        directory: Where they are kept. It gets ca.key and ca.crt, server.key and server.crt, and for each node its
            private key node-00 and its public key node-00.pub, as OpenSSH writes them. Private keys are for their
            owner's eyes only.
        nodes: How many nodes have keys afterwards.
        hosts: Names and addresses of the server beside those of this machine's loopback.
        days: How long certificates hold.

    Returns:
        The files that were made.
    """
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    made: list[Path] = []
    until = datetime.now(UTC) + timedelta(days=days)
    if _missing(directory / f"{AUTHORITY}.key", directory / f"{AUTHORITY}.crt"):
        made += _make_authority(directory, until)
    if _missing(directory / f"{SERVER}.key", directory / f"{SERVER}.crt"):
        made += _make_server(directory, [*LOOPBACK, *hosts], until)
    for number in range(nodes):
        private, public = directory / node_name(number), directory / f"{node_name(number)}.pub"
        if _missing(private, public):
            key = ec.generate_private_key(CURVE())
            words = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH) + b"\n"
            made += [
                _write(private, key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()), secret=True),
                _write(public, words),
            ]
    return made


def node_name(number: int) -> str:
    """Returns what the private key of a node is called."""
    return f"node-{number:02d}"


def _make_authority(directory: Path, until: datetime) -> list[Path]:
    key = ec.generate_private_key(CURVE())
    name = _name("Fallow federation authority")
    signs = x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
    certificate = (
        _certificate(key.public_key(), name, name, until)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(signs, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA384())
    )
    return _write_pair(directory, AUTHORITY, key, certificate)


def _make_server(directory: Path, hosts: list[str], until: datetime) -> list[Path]:
    path = directory / f"{AUTHORITY}.key"
    signer = load_pem_private_key(path.read_bytes(), None)
    if not isinstance(signer, ec.EllipticCurvePrivateKey):
        raise KeyFileError(f"{path} is not the key of an authority that Fallow made.")
    authority = x509.load_pem_x509_certificate((directory / f"{AUTHORITY}.crt").read_bytes())
    key = ec.generate_private_key(CURVE())
    certificate = (
        _certificate(key.public_key(), _name("Fallow federation server"), authority.subject, until)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([_host(host) for host in dict.fromkeys(hosts)]), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        .sign(signer, hashes.SHA384())
    )
    return _write_pair(directory, SERVER, key, certificate)


def _certificate(
    key: ec.EllipticCurvePublicKey, subject: x509.Name, issuer: x509.Name, until: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - timedelta(hours=1))  # clocks differ
        .not_valid_after(until)
    )


def _name(words: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, words)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        return x509.DNSName(host)
    except ValueError as error:
        raise KeyFileError(f"'{host}' is neither a host's name nor an address.") from error


def _missing(private: Path, public: Path) -> bool:
    """Tells whether a pair has to be made; half a pair is an error."""
    there = [path for path in (private, public) if path.exists()]
    if len(there) == 1:
        gone = public if there[0] == private else private
        raise KeyFileError(f"{there[0]} is there and {gone} is not; put it back, or remove {there[0]}.")
    return not there


def _write_pair(directory: Path, name: str, key: ec.EllipticCurvePrivateKey, of: x509.Certificate) -> list[Path]:
    words = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return [
        _write(directory / f"{name}.key", words, secret=True),
        _write(directory / f"{name}.crt", of.public_bytes(Encoding.PEM)),
    ]


def _write(path: Path, words: bytes, *, secret: bool = False) -> Path:
    """Writes a new file; a private key is never readable by others, not even while it is written."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if secret else 0o644)
    with os.fdopen(descriptor, "wb") as file:
        file.write(words)
    return path
