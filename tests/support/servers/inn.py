"""A real news server on a free port, with its spool in a directory of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trustme

from tapestry.core.processes.child_process import free_port
from tests.support.paths import ROOT

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import nntplib

BUNDLE = ROOT / ".venv" / "inn"
USER, PASSWORD = "reader", "s3cret/@"
GROUPS = ("comp.misc", "comp.sys.misc", "comp.sys.next", "test.one", "secret.plans")
DIRECTORIES = (
    *("db", "run", "log", "tmp", "filter", "http", "etc"),
    *(f"spool/{name}" for name in ("articles", "overview", "outgoing", "archive", "innfeed")),
    "spool/incoming/bad",
)

INN_CONF = """\
mta:                 "/bin/true %s"
organization:        tests
ovmethod:            tradindexed
hismethod:           hisv6
pathhost:            news.test
domain:              test
bindaddress:         127.0.0.1
port:                {port}
runasuser:           news
runasgroup:          news
enableoverview:      true
artcutoff:           0
icdsynccount:        1
nnrpdcheckart:       true
nnrpdloadlimit:      0
pathnews:            {programs}
pathbin:             {programs}/bin
pathfilter:          {home}/filter
pathcontrol:         {programs}/bin/control
pathdb:              {home}/db
pathetc:             {home}/etc
pathrun:             {home}/run
pathlog:             {home}/log
pathhttp:            {home}/http
pathtmp:             {home}/tmp
pathspool:           {home}/spool
patharticles:        {home}/spool/articles
pathoverview:        {home}/spool/overview
pathoutgoing:        {home}/spool/outgoing
pathincoming:        {home}/spool/incoming
patharchive:         {home}/spool/archive
{tls}
"""

READERS = """\
auth "everybody" {{
  hosts: "*"
  auth: "ckpasswd -f {home}/etc/people"
  default: "<nobody>"
}}
access "everybody" {{
  users: "*"
  newsgroups: "*,!secret.*"
  access: RPA
}}
access "members" {{
  users: "{user}"
  newsgroups: "*"
  access: RPA
}}
"""


@dataclass
class Inn:
    """A running server; ``tls_port`` speaks TLS from the start, if there is a certificate."""

    home: Path
    port: int
    tls_port: int | None = None
    certificate: Path | None = None
    processes: list[subprocess.Popen] = field(default_factory=list)

    def url(self, groups: str) -> str:
        return f"nntp://127.0.0.1:{self.port}/{groups}"

    @contextmanager
    def session(self) -> Iterator[nntplib.NNTP]:
        """A second client beside the one under test."""
        with nntplib.NNTP("127.0.0.1", self.port, readermode=True, timeout=60) as client:
            yield client

    def post(self, *articles: bytes) -> None:
        """Post articles; each must name its newsgroups."""
        left, said = list(articles), ""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                with self.session() as client:
                    while left:
                        client.post(left[0])
                        left.pop(0)
                return
            except nntplib.NNTPTemporaryError as error:
                # One that is busy says so; what it has by then it will not take again.
                if "435" in error.response or "Duplicate" in error.response:
                    left.pop(0)
                said = error.response
                time.sleep(0.2)
        pytest.fail(f"INN does not take articles: {said}")

    def remove(self, msgid: str) -> None:
        """Have an article expire."""
        self.control("cancel", f"<{msgid}>")

    def control(self, *command: str) -> None:
        """Tell the server something, as its keeper does."""
        done = subprocess.run(
            [*_drop_prefix(), self._program("ctlinnd"), "-t", "60", *command],
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            **_drop(),
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        """Start with whatever is in the spool."""
        flags = ["-f", "-N", "-t", "1", "-n", "y", "-P", str(self.port)]
        self._spawn([self._program("innd"), *flags])
        _wait_for(self.port, self)
        if self.tls_port is not None:
            flags = ["-D", "-f", "-S", "-b", "127.0.0.1", "-p", str(self.tls_port)]
            self._spawn([self._program("nnrpd"), *flags])
            _wait_for(self.tls_port, self)

    def stop(self) -> None:
        """End it and its children at once: it would take seconds, and its spool is not kept."""
        for process in self.processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.processes.clear()

    def begin_anew(self) -> None:
        """Lose all articles, and begin to number at 1 again."""
        self.stop()
        _empty_spool(self)
        self.start()

    def _spawn(self, command: list[str]) -> None:
        with (self.home / "out.log").open("ab") as out:
            self.processes.append(
                subprocess.Popen(
                    [*_drop_prefix(), *command],
                    env=self._environment(),
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    **_drop(),
                )
            )

    def _program(self, name: str) -> str:
        return str(self.home / "inn" / "usr/lib/news/bin" / name)

    def _environment(self) -> dict[str, str]:
        bundle = self.home / "inn" / "usr/lib"
        libraries = [bundle / "news", *bundle.glob("*-linux-gnu")]
        return {
            "PATH": "/usr/bin:/bin",
            "INNCONF": str(self.home / "etc/inn.conf"),
            "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
        }


@contextmanager
def running_inn(authority: trustme.CA | None = None) -> Iterator[Inn]:
    """Start a server, and stop it at the end; skip the test where there is none.

    ``authority`` (of trustme) gives it a certificate for 127.0.0.1.
    """
    if not (BUNDLE / "usr/lib/news/bin/innd").exists():
        missing = "There is no INN; `make test` fetches inn2 on Debian."
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)
    # Not pytest's directory: the server runs as news, who may not go in there.
    home = Path(tempfile.mkdtemp(prefix="inn-"))
    home.chmod(0o755)
    server = Inn(home, free_port())
    try:
        _prepare(server, authority)
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(home, ignore_errors=True)


def _prepare(server: Inn, authority: trustme.CA | None) -> None:
    home = server.home
    shutil.copytree(BUNDLE / "usr", home / "inn" / "usr", symlinks=True)
    for name in DIRECTORIES:
        (home / name).mkdir(parents=True)
    etc = home / "etc"
    tls = ""
    if authority is not None:
        server.tls_port = free_port()
        certificate = authority.issue_cert("127.0.0.1")
        certificate.cert_chain_pems[0].write_to_path(str(etc / "cert.pem"))
        certificate.private_key_pem.write_to_path(str(etc / "key.pem"))
        (etc / "key.pem").chmod(0o600)
        tls = f"tlscertfile: {etc}/cert.pem\ntlskeyfile: {etc}/key.pem\ntlscapath: {etc}\n"
    programs = home / "inn/usr/lib/news"
    written = {
        "inn.conf": INN_CONF.format(home=home, port=server.port, programs=programs, tls=tls),
        "storage.conf": "method tradspool {\n    newsgroups: *\n    class: 0\n}\n",
        "readers.conf": READERS.format(home=home, user=USER),
        "newsfeeds": "ME:!*::\n",
        "incoming.conf": 'peer ME {\n    hostname: "localhost, 127.0.0.1"\n}\n',
        "expire.ctl": "/remember/:10\n*:A:1:10:never\n",
        "people": f"{USER}:{_hashed(PASSWORD)}\n",
    }
    empty = "control.ctl moderators distrib.pats localgroups passwd.nntp nnrpd.track"
    for name in (*empty.split(), "distributions", "subscriptions"):
        (etc / name).touch()
    for name, text in written.items():
        (etc / name).write_text(text)
    _empty_spool(server)


def _empty_spool(server: Inn) -> None:
    home = server.home
    for name in ("spool/articles", "spool/overview", "db", "run"):
        shutil.rmtree(home / name)
        (home / name).mkdir()
    posted = "".join(f"{name} 0000000000 0000000001 y\n" for name in GROUPS)
    kept = "".join(f"{name} 0000000000 0000000001 n\n" for name in ("control", "junk"))
    (home / "db/active").write_text(kept + "control.cancel 0000000000 0000000001 n\n" + posted)
    for name in ("active.times", "newsgroups", "history"):
        (home / "db" / name).touch()
    if os.geteuid() == 0:
        news = pwd.getpwnam("news")
        for path in (home, *home.rglob("*")):
            os.chown(path, news.pw_uid, news.pw_gid, follow_symlinks=False)
    command = [server._program("makedbz"), "-i", "-o", "-f", str(home / "db/history")]
    subprocess.run(
        [*_drop_prefix(), *command],
        env=server._environment(),
        check=True,
        capture_output=True,
        timeout=120,
        **_drop(),
    )
    for made in (home / "db").glob("history.n.*"):
        made.rename(home / "db" / made.name.replace(".n.", "."))


def _hashed(password: str) -> str:
    script = 'print crypt($ARGV[0], "\\$6\\$salt")'
    return subprocess.check_output(["perl", "-e", script, password], text=True)


def _drop() -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    news = pwd.getpwnam("news")
    return {"user": news.pw_uid, "group": news.pw_gid, "extra_groups": []}


def _drop_prefix() -> list[str]:
    """The server insists on being news: who is not root is so in a namespace of their own."""
    if os.geteuid() == 0:
        return []
    return ["unshare", "--user", "--map-user=9", "--map-group=9"]


def _wait_for(port: int, server: Inn) -> None:
    until = time.monotonic() + 60
    while server.processes[-1].poll() is None and time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail(f"INN does not start:\n{(server.home / 'out.log').read_text()}")
