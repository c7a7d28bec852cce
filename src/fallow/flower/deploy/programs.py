"""The programs of a federation: which of Flower's run together, with which options, and what keeps them private.

Flower starts what carries out tasks, `flower-superexec`, by itself, and then asks nobody who fetches a task for a
secret. With `--isolation process` it is started here, and must know a secret that is made anew for each start.
"""

import os
import secrets
import shutil
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

from fallow.errors import ConfigError

NOT_INSTALLED = "Flower is not installed; run pip install 'fallow[flower]'."

QUIET = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
}
"""Without these, Flower tells its makers of each start, asks them for news, and installs packages."""

SECRET_FILE = "runtime.secret"  # noqa: S105  # its name

Programs = Mapping[str, list[str]]
"""Commands, by the names that they have in a sentence."""


def search_path() -> str:
    """Returns where programs are looked for: beside this Python first."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


def check_installed() -> None:
    """Checks that Flower's programs are there.

    Raises:
        ConfigError: They are not.
    """
    if shutil.which("flower-supernode", path=search_path()) is None:
        raise ConfigError(NOT_INSTALLED)


def environment_for(home: Path) -> dict[str, str]:
    """Returns the environment of Flower's programs.

    Args:
        home: Flower's own directory. Each node has one: two that install an app into one at once disturb each other.
    """
    return QUIET | os.environ | {"PATH": search_path(), "FLWR_HOME": str(home)}


def node_programs(home: Path, superlink: str, authority: Path, key: Path, node_config: Path) -> Programs:
    """Returns a SuperNode and what carries out its tasks, with a new port on loopback and a new secret.

    Args:
        home: The node's directory.
        superlink: Where the SuperLink is, as host:port.
        authority: The certificate of the federation's authority.
        key: The node's private key.
        node_config: The file of its node config.
    """
    port, secret = free_port(), _new_secret(home)
    return {
        "flower-supernode": [
            *(sys.executable, "-P", "-m", "fallow.flower.deploy.supernode"),  # whatever modules lie about here
            *("--superlink", superlink, "--root-certificates", str(authority)),
            *("--auth-supernode-private-key", str(key), "--node-config", str(node_config)),
            *("--host", "127.0.0.1", "--port", str(port)),
            *("--isolation", "process", "--superexec-auth-secret-file", str(secret)),
        ],
        "flower-superexec": [
            *(_program("flower-superexec"), "--insecure", "--runtime-api-address", f"127.0.0.1:{port}"),
            *("--superexec-auth-secret-file", str(secret)),
        ],
    }


def link_programs(directory: Path, host: str, port: int) -> Programs:
    """Returns a SuperLink with TLS and node authentication, and what carries out its tasks, with a new secret.

    Args:
        directory: The app's, with its keys.
        host: The address that it listens to.
        port: Its port.
    """
    keys, home = directory / "keys", directory / ".flwr"
    secret = _new_secret(home)
    reached = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return {
        "flower-superlink": [
            *(_program("flower-superlink"), "--host", host, "--port", str(port), "--enable-supernode-auth"),
            *("--database", str(home / "superlink.db"), "--ssl-ca-certfile", str(keys / "ca.crt")),
            *("--ssl-certfile", str(keys / "server.crt"), "--ssl-keyfile", str(keys / "server.key")),
            *("--isolation", "process", "--superexec-auth-secret-file", str(secret)),
        ],
        "flower-superexec": [
            *(_program("flower-superexec"), "--runtime-api-address", f"{reached}:{port}"),
            *("--root-certificates", str(keys / "ca.crt"), "--superexec-auth-secret-file", str(secret)),
        ],
    }


def free_port() -> int:
    """Returns a port of loopback that nobody listens to."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _program(name: str) -> str:
    found = shutil.which(name, path=search_path())
    if found is None:
        raise ConfigError(NOT_INSTALLED)
    return found


def _new_secret(home: Path) -> Path:
    """Writes a new secret that its owner alone can read, and returns its file."""
    path = home / SECRET_FILE
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(32))
    return path
