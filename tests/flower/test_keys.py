"""Keys: for their owner's eyes only, never written over, and of a kind that Flower and TLS take."""

import ssl
import stat
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_ssh_private_key, load_ssh_public_key
from flwr.supercore.primitives.asymmetric import uses_nist_ec_curve

from fallow.flower.deploy.keys import KeyFileError, make_keys


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_a_node_has_a_pair_of_a_curve_that_flower_takes(tmp_path: Path) -> None:
    make_keys(tmp_path, nodes=2)
    private = load_ssh_private_key((tmp_path / "node-01").read_bytes(), None)
    public = load_ssh_public_key((tmp_path / "node-01.pub").read_bytes())
    assert isinstance(private, ec.EllipticCurvePrivateKey)
    assert isinstance(public, ec.EllipticCurvePublicKey)
    assert private.public_key() == public
    assert uses_nist_ec_curve(public)
    assert (tmp_path / "node-00.pub").read_bytes() != (tmp_path / "node-01.pub").read_bytes()


def test_private_keys_are_for_their_owner_alone(tmp_path: Path) -> None:
    made = make_keys(tmp_path / "keys", nodes=1)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in made}
    assert {name for name, mode in modes.items() if mode == 0o600} == {"ca.key", "server.key", "node-00"}
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700


def test_what_is_there_stays_as_it_is(tmp_path: Path) -> None:
    make_keys(tmp_path, nodes=1)
    before = contents(tmp_path)
    assert {path.name for path in make_keys(tmp_path, nodes=2)} == {"node-01", "node-01.pub"}
    assert make_keys(tmp_path, nodes=2) == []
    assert contents(tmp_path).items() >= before.items()


@pytest.mark.parametrize("gone", ["ca.key", "server.crt", "node-00.pub"])
def test_half_a_pair_is_a_sentence_and_no_new_pair(gone: str, tmp_path: Path) -> None:
    make_keys(tmp_path, nodes=1)
    (tmp_path / gone).unlink()
    before = contents(tmp_path)
    with pytest.raises(KeyFileError, match=f"{gone} is not; put it back"):
        make_keys(tmp_path, nodes=2)
    assert contents(tmp_path) == before


def test_the_server_can_be_given_a_new_certificate_by_the_same_authority(tmp_path: Path) -> None:
    make_keys(tmp_path, nodes=0)
    before = contents(tmp_path)
    (tmp_path / "server.key").unlink()
    (tmp_path / "server.crt").unlink()
    make_keys(tmp_path, nodes=0, hosts=["roof.example", "192.0.2.7"])
    after = contents(tmp_path)
    assert after["ca.crt"] == before["ca.crt"]
    assert after["server.crt"] != before["server.crt"]
    certificate = x509.load_pem_x509_certificate(after["server.crt"])
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost", "roof.example"]
    assert [str(one) for one in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1", "::1", "192.0.2.7"]


@pytest.mark.parametrize("host", ["dächer", "", "the roof", "roof.example:8000", "https://roof.example"])
def test_a_host_that_is_none_is_a_sentence_and_nothing_is_made(host: str, tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="neither a host's name nor an address"):
        make_keys(tmp_path, nodes=0, hosts=[host])
    assert contents(tmp_path) == {}


def test_a_host_that_the_certificate_lacks_is_a_sentence_and_not_ignored(tmp_path: Path) -> None:
    make_keys(tmp_path, nodes=1, hosts=["Roof.example", "192.0.2.7"])
    before = contents(tmp_path)
    assert make_keys(tmp_path, nodes=1, hosts=["roof.Example", "192.0.2.7", "localhost"]) == []
    with pytest.raises(KeyFileError, match=r"server.crt does not name yard.example; remove it and .*server.key, and"):
        make_keys(tmp_path, nodes=2, hosts=["roof.example", "yard.example"])
    assert contents(tmp_path) == before


@pytest.mark.parametrize("damaged", ["ca.key", "ca.crt", "server.crt"])
def test_a_damaged_file_is_a_sentence(damaged: str, tmp_path: Path) -> None:
    make_keys(tmp_path, nodes=0)
    (tmp_path / damaged).write_text("damaged")
    if damaged != "server.crt":
        (tmp_path / "server.key").unlink()
        (tmp_path / "server.crt").unlink()
    with pytest.raises(KeyFileError, match=f"{damaged} is damaged"):
        make_keys(tmp_path, nodes=0, hosts=["roof.example"])


def test_a_file_in_place_of_the_directory_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "keys").touch()
    with pytest.raises(KeyFileError, match="keys can't be read or written: File exists"):
        make_keys(tmp_path / "keys", nodes=0)


def shake_hands(keys: Path, authority: Path, host: str) -> None:
    """Meets a TLS server that has these keys; that it is not who it should be is an error."""
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(keys / "server.crt", keys / "server.key")
    trusting = ssl.create_default_context(cafile=str(authority / "ca.crt"))
    ends = [(ssl.MemoryBIO(), ssl.MemoryBIO()) for _ in range(2)]
    server = serving.wrap_bio(ends[0][0], ends[1][0], server_side=True)
    client = trusting.wrap_bio(ends[1][0], ends[0][0], server_hostname=host)
    done: set[object] = set()
    for _ in range(10):
        for side in (client, server):
            try:
                side.do_handshake()
                done.add(side)
            except ssl.SSLWantReadError:
                pass
    assert len(done) == 2


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_tls_takes_the_servers_certificate(host: str, tmp_path: Path) -> None:
    make_keys(tmp_path, nodes=0)
    shake_hands(tmp_path, tmp_path, host)


def test_tls_takes_no_other_authority_and_no_other_name(tmp_path: Path) -> None:
    make_keys(tmp_path / "ours", nodes=0)
    make_keys(tmp_path / "theirs", nodes=0)
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(tmp_path / "theirs", tmp_path / "ours", "localhost")
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(tmp_path / "ours", tmp_path / "ours", "example.org")
