"""The web server of `up`, alone, before an application that answers with what tests need."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tapestry.core.processes.child_process import free_port
from tests.support.paths import ROOT
from tests.support.processes import forked

LARGE = 8 * 1024 * 1024
"""Bytes: more than the sockets of both sides buffer."""


def application(environ, start_response):
    """Answer /large with many bytes, else the scheme, the client and the body."""
    body = environ["wsgi.input"].read()
    if environ["PATH_INFO"] == "/large":
        answer = b"x" * LARGE
    else:
        forwarded = environ.get("HTTP_X_FORWARDED_FOR", "")
        answer = f"{environ['wsgi.url_scheme']} {forwarded}".encode() + body
    start_response("200 OK", [("Content-Length", str(len(answer)))])
    return [answer]


def main(port: int, address: str, proxy: str) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tapestry.settings")
    from filters.site.launch import web_server

    web_server.serve(application, port, address, proxy)


@contextmanager
def running_web(
    address: str = "127.0.0.1", proxy: str = "127.0.0.1"
) -> Iterator[Callable[..., socket.socket]]:
    """Run it; yield what connects and sends bytes."""
    port = free_port()
    code = "import sys; sys.path.insert(0, '.'); from tests.support.servers import web; "
    code += "web.main(int(sys.argv[1]), *sys.argv[2:])"
    argv = [sys.executable, "-c", code, str(port), address, proxy]
    with _running(argv, port) as connect:
        yield connect


@contextmanager
def running_site(data: Path) -> Iterator[Callable[..., socket.socket]]:
    """Run it before the site, on a data directory; yield what opens a connection."""
    port = free_port()
    tick = forked.run(
        ["manage.py", "tick"], cwd=ROOT, env=os.environ | {"TAPESTRY_DATA": str(data)}
    )
    assert tick.returncode == 0  # as any command, it makes the database
    argv = [sys.executable, "-m", "filters.site.launch.web_server", str(port)]
    with _running(argv, port, TAPESTRY_DATA=str(data)) as connect:
        yield connect


@contextmanager
def _running(argv: list[str], port: int, **env: str) -> Iterator[Callable[..., socket.socket]]:
    with tempfile.TemporaryFile() as output:  # a pipe that nobody reads stops who writes
        process = subprocess.Popen(
            argv, cwd=ROOT, env=os.environ | env, stdout=output, stderr=subprocess.STDOUT
        )
        opened = []

        def connect(
            data: bytes = b"", window: int | None = None, to: str = "127.0.0.1", by: str = ""
        ) -> socket.socket:
            made = socket.socket()
            made.bind((by, 0))
            if window is not None:
                made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
            made.settimeout(120)
            made.connect((to, port))
            made.sendall(data)
            opened.append(made)
            return made

        try:
            while process.poll() is None:
                try:
                    connect().close()
                    break
                except ConnectionRefusedError:
                    time.sleep(0.05)
            yield connect
        finally:
            for made in opened:
                made.close()
            process.terminate()
            process.wait(timeout=60)
            output.seek(0)
            print(output.read().decode())
