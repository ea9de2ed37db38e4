"""A real PostgreSQL on a free port, with its data in a directory of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import trustme

from tapestry.core.processes.child_process import free_port


def programs() -> Path:
    """The directory of PostgreSQL's programs, which Debian does not put on the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    on_path = shutil.which("postgres")
    assert found or on_path, "PostgreSQL is not here: make test installs it."
    return found[-1].parent if found else Path(str(on_path)).parent


@contextmanager
def running_postgres(authority: trustme.CA | None = None, host: str = "127.0.0.1") -> Iterator[str]:
    """Run a server; yield the address of its database.

    It lets in all who reach it at its host.
    With an authority it is reached over TLS alone, by a client that has a certificate of it.
    """
    # Not pytest's directory: as root the server runs as postgres, who may not go in there.
    home = Path(tempfile.mkdtemp(prefix="tapestry-pg-"))
    user = "postgres" if os.geteuid() == 0 else None
    if user is not None:
        account = pwd.getpwnam(user)
        os.chown(home, account.pw_uid, account.pw_gid)
    made = ["-D", str(home / "data"), "-U", "tapestry", "-A", "trust", "-E", "UTF8", "--no-locale"]
    subprocess.run(
        [programs() / "initdb", *made, "--no-sync"],
        user=user, cwd=home, check=True, capture_output=True,
    )  # fmt: skip
    with (home / "data" / "pg_hba.conf").open("a") as rules:
        rules.write("host all tapestry samenet trust\n")
    port = free_port()
    settings: tuple[str, ...] = (
        f"listen_addresses={host}",
        "fsync=off",
        f"unix_socket_directories={home}",
    )
    if authority is not None:
        settings += _requires_certificates(authority, home, user)
    server = [str(programs() / "postgres"), "-D", str(home / "data"), "-p", str(port)]
    with (home / "log").open("wb") as log:
        started = subprocess.Popen(
            [*server, *(word for each in settings for word in ("-c", each))],
            user=user, cwd=home, stdout=log, stderr=log,
        )  # fmt: skip
    try:
        ready = [programs() / "pg_isready", "-q", "-h", host, "-p", str(port)]
        while subprocess.run(ready, check=False).returncode:
            assert started.poll() is None, (home / "log").read_text()
            time.sleep(0.1)
        yield f"postgres://tapestry@{host}:{port}/postgres"
    finally:
        started.send_signal(signal.SIGINT)  # at once, whoever is still connected
        started.wait(60)
        shutil.rmtree(home)


def _requires_certificates(authority: trustme.CA, home: Path, user: str | None) -> tuple[str, ...]:
    """Write the certificates of a server, and return its settings."""
    own = authority.issue_cert("127.0.0.1")
    own.cert_chain_pems[0].write_to_path(str(home / "server.pem"))
    own.private_key_pem.write_to_path(str(home / "server.key"))
    authority.cert_pem.write_to_path(str(home / "ca.pem"))
    (home / "hba").write_text("hostssl all tapestry 127.0.0.1/32 trust clientcert=verify-ca\n")
    for path in home.iterdir():
        path.chmod(0o700 if path.is_dir() else 0o600)
        if user is not None:
            os.chown(path, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
    files = {"ssl_cert": "server.pem", "ssl_key": "server.key", "ssl_ca": "ca.pem", "hba": "hba"}
    return ("ssl=on", *(f"{name}_file={home / file}" for name, file in files.items()))
