"""A real server of address books and calendars on a free port, with one user."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from tapestry.core.processes.child_process import free_port

USER, PASSWORD = "alice@x.org", "s3cret/@"

CONFIG = """\
[server]
hosts = 127.0.0.1:{port}
[auth]
type = htpasswd
htpasswd_filename = {home}/users
htpasswd_encryption = plain
delay = 0
[storage]
filesystem_folder = {home}/collections
[logging]
level = warning
"""

BOOK = "addressbook", "urn:ietf:params:xml:ns:carddav"
CALENDAR = "calendar", "urn:ietf:params:xml:ns:caldav"


@dataclass(frozen=True)
class Radicale:
    """A running server; paths are within the home of its user."""

    port: int

    def path(self, name: str) -> str:
        return f"/{quote(USER, '@')}/{name}"

    def make(self, name: str, kind: tuple[str, str]) -> str:
        """Make an address book or a calendar, and return its path."""
        word, space = kind
        types = f'<resourcetype><collection/><{word} xmlns="{space}"/></resourcetype>'
        asked = f"<prop>{types}<displayname>{name.title()}</displayname></prop>"
        self.ask("MKCOL", f"{name}/", f'<mkcol xmlns="DAV:"><set>{asked}</set></mkcol>')
        return self.path(f"{name}/")

    def put(self, name: str, content: str) -> None:
        self.ask("PUT", name, content)

    def delete(self, name: str) -> None:
        self.ask("DELETE", name)

    def ask(self, method: str, name: str, body: str = "") -> None:
        url = f"http://127.0.0.1:{self.port}{self.path(name)}"
        request = urllib.request.Request(url, body.encode(), method=method)
        kind = "text/vcard" if name.endswith(".vcf") else "text/calendar"
        request.add_header("Content-Type", "application/xml" if method == "MKCOL" else kind)
        login = urllib.request.HTTPPasswordMgrWithPriorAuth()
        login.add_password(None, url, USER, PASSWORD, is_authenticated=True)
        urllib.request.build_opener(urllib.request.HTTPBasicAuthHandler(login)).open(request)


@contextmanager
def running_radicale() -> Iterator[Radicale]:
    """Run a server without address books and calendars."""
    with tempfile.TemporaryDirectory() as directory:
        home, port = Path(directory), free_port()
        (home / "users").write_text(f"{USER}:{PASSWORD}\n")
        config = home / "config"
        config.write_text(CONFIG.format(port=port, home=home))
        command = [sys.executable, "-m", "radicale", "--config", str(config)]
        with subprocess.Popen(command, stderr=(home / "log").open("wb")) as process:
            try:
                _wait(port, process)
                yield Radicale(port)
            finally:
                process.terminate()


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert process.poll() is None, "it does not start"
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/.web/"):
            return
        time.sleep(0.1)
    raise AssertionError("it does not answer")
