"""Keys of a federation: an authority of its own, a certificate for the server, and a key pair for each node."""

import ipaddress
import os
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
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
HOST = re.compile(r"(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")

Read = TypeVar("Read")


class KeyFileError(FallowError):
    """Keys can't be written or read."""


def make_keys(directory: Path, nodes: int, hosts: Iterable[str] = (), days: int = 365) -> list[Path]:
    """Makes those of a federation's keys that are missing. What is there is never overwritten.

    Args:
        directory: Where they are kept. It gets ca.key and ca.crt, server.key and server.crt, and for each node its
            private key node-00 and its public key node-00.pub, as OpenSSH writes them. Private keys are for their
            owner's eyes only.
        nodes: How many nodes have keys afterwards.
        hosts: Names and addresses of the server beside those of this machine's loopback.
        days: How long certificates hold.

    Returns:
        The files that were made.

    Raises:
        KeyFileError: Half a pair of keys is missing, a file can't be read or written, or a host is not valid.
    """
    names = [_host(host) for host in hosts]
    until = datetime.now(UTC) + timedelta(days=days)
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        return _make_missing(directory, nodes, names, until)
    except OSError as error:
        raise KeyFileError(f"{error.filename or directory} can't be read or written: {error.strerror}.") from error


def node_name(number: int) -> str:
    """Returns the file name of a node's private key.

    Args:
        number: Of the node, from 0.
    """
    return f"node-{number:02d}"


def _make_missing(directory: Path, nodes: int, names: list[x509.GeneralName], until: datetime) -> list[Path]:
    made: list[Path] = []
    if _missing(directory / f"{AUTHORITY}.key", directory / f"{AUTHORITY}.crt"):
        made += _make_authority(directory, until)
    if _missing(directory / f"{SERVER}.key", directory / f"{SERVER}.crt"):
        made += _make_server(directory, list(dict.fromkeys([*map(_host, LOOPBACK), *names])), until)
    elif names:
        _check_server(directory, names)
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


def _make_server(directory: Path, names: list[x509.GeneralName], until: datetime) -> list[Path]:
    path = directory / f"{AUTHORITY}.key"
    signer = _read(path, lambda words: load_pem_private_key(words, None))
    if not isinstance(signer, ec.EllipticCurvePrivateKey):
        raise KeyFileError(f"{path} is not the key of an authority that Fallow made.")
    authority = _read(directory / f"{AUTHORITY}.crt", x509.load_pem_x509_certificate)
    key = ec.generate_private_key(CURVE())
    certificate = (
        _certificate(key.public_key(), _name("Fallow federation server"), authority.subject, until)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        .sign(signer, hashes.SHA384())
    )
    return _write_pair(directory, SERVER, key, certificate)


def _check_server(directory: Path, names: list[x509.GeneralName]) -> None:
    """Raises KeyFileError if a certificate lacks a name of the server: nodes would not trust the server there."""
    private, public = directory / f"{SERVER}.key", directory / f"{SERVER}.crt"
    certificate = _read(public, x509.load_pem_x509_certificate)
    lists = [one.value for one in certificate.extensions if isinstance(one.value, x509.SubjectAlternativeName)]
    named = {str(name.value).lower() for one in lists for name in one}
    lacking = [str(name.value) for name in names if str(name.value) not in named]
    if lacking:
        raise KeyFileError(
            f"{public} does not name {', '.join(lacking)}; remove it and {private}, and repeat with every --host: all "
            "other keys stay as they are."
        )


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
    if not HOST.fullmatch(host):
        raise KeyFileError(f"'{host}' is neither a host's name nor an address.")
    return x509.DNSName(host.lower())


def _missing(private: Path, public: Path) -> bool:
    """Returns whether a pair of keys has to be made. Half a pair raises KeyFileError."""
    there = [path for path in (private, public) if path.exists()]
    if len(there) == 1:
        gone = public if there[0] == private else private
        raise KeyFileError(f"{there[0]} is there and {gone} is not; put it back, or remove {there[0]}.")
    return not there


def _read(path: Path, load: Callable[[bytes], Read]) -> Read:
    try:
        return load(path.read_bytes())
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise KeyFileError(f"{path} is damaged, or Fallow did not make it; put it back as it was.") from error


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
