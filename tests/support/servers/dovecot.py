"""A real IMAP server on a free port, with its mail in a directory of its own."""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trustme
from imapclient import IMAPClient

from tapestry.core.processes.child_process import free_port

PROGRAM = Path("/usr/sbin/dovecot")
USER, PASSWORD = "alice@x.org", "s3cret/@"
USER_ABROAD, PASSWORD_ABROAD = "björn", "straße 7"

CONFIG = """\
base_dir = {home}/run
state_dir = {home}/state
log_path = {home}/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = {ssl}
disable_plaintext_auth = no
auth_mechanisms = plain login {mechanisms}
auth_failure_delay = 0
auth_username_chars =
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {user}
first_valid_uid = 1
mail_location = maildir:{home}/mail/%u
{more}
passdb {{
  driver = passwd-file
  args = {home}/users
}}
userdb {{
  driver = static
  args = uid={user} gid={group} home={home}/mail/%u
}}
namespace inbox {{
  inbox = yes
  separator = {separator}
  prefix = {prefix}
}}
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service stats {{
  chroot =
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = {tls_port}
    ssl = yes
  }}
}}
"""

TLS = """\
ssl_cert = <{home}/cert.pem
ssl_key = <{home}/key.pem
"""

TOKENS = """\
passdb {{
  driver = oauth2
  mechanisms = xoauth2
  args = {home}/oauth2.conf
}}
"""

QUOTA = """\
mail_plugins = quota
protocol imap {{
  mail_plugins = quota imap_quota
}}
plugin {{
  quota = count:mailbox
  quota_vsizes = yes
  quota_rule = *:{rule}
  quota_grace = 0
  quota_max_mail_size = 50k
}}
"""

SENT = """\
namespace inbox {{
  mailbox "{name}" {{
    auto = subscribe
    special_use = \\Sent
  }}
}}
"""

OAUTH2 = """\
introspection_mode = get
introspection_url = {url}
username_attribute = username
active_attribute = active
active_value = yes
"""


@dataclass(frozen=True)
class Dovecot:
    """A running server, with one user; ``tls_port`` speaks TLS from the start, if not 0."""

    port: int
    home: Path
    tls_port: int = 0

    def url(self, folder: str = "INBOX", password: str | None = "s3cret%2F%40") -> str:
        secret = "" if password is None else f":{password}"
        return f"imap://alice%40x.org{secret}@127.0.0.1:{self.port}/{folder}"

    @contextmanager
    def session(self) -> Iterator[IMAPClient]:
        """A second client beside the one under test, logged in."""
        with IMAPClient("127.0.0.1", self.port, ssl=False) as client:
            client.login(USER, PASSWORD)
            yield client

    def put(self, folder: str, *messages: bytes) -> None:
        """Append messages to a mailbox, making it if it is not there."""
        with self.session() as client:
            if not client.folder_exists(folder):
                client.create_folder(folder)
            for message in messages:
                client.append(folder, message)


@contextmanager
def running_dovecot(
    authority: trustme.CA | None = None,
    tokens: str = "",
    quota: str = "",
    prefix: str = "",
    sent: str = "",
) -> Iterator[Dovecot]:
    """Start a server, and stop it at the end; skip the test where it is not installed.

    ``authority`` (of trustme) gives it a certificate for 127.0.0.1; ``tokens`` is the URL
    at which it asks whether a token is good.  ``quota`` is the rule of how much a person may
    keep; ``prefix`` is that of all folders, and ends with the delimiter (RFC 2342).  ``sent`` is
    the folder with the special use \\Sent (RFC 6154).
    """
    if not PROGRAM.exists():
        missing = "There is no Dovecot; `make test` installs dovecot-imapd on Debian."
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)
    # Not pytest's directory: the server runs as nobody, who may not go in there.
    home = Path(tempfile.mkdtemp(prefix="dovecot-"))
    home.chmod(0o755)
    account = pwd.getpwnam("nobody") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    port, tls_port = free_port(), free_port() if authority else 0
    group = grp.getgrgid(account.pw_gid).gr_name
    config = home / "dovecot.conf"
    more = ""
    if authority is not None:
        more += TLS.format(home=home)
        certificate = authority.issue_cert("127.0.0.1")
        certificate.cert_chain_pems[0].write_to_path(str(home / "cert.pem"))
        certificate.private_key_pem.write_to_path(str(home / "key.pem"))
    if quota:
        more += QUOTA.format(rule=quota)
    if sent:
        more += SENT.format(name=sent)
    if tokens:
        more += TOKENS.format(home=home)
        (home / "oauth2.conf").write_text(OAUTH2.format(url=tokens))
    config.write_text(
        CONFIG.format(
            home=home,
            port=port,
            tls_port=tls_port,
            user=account.pw_name,
            group=group,
            ssl="yes" if authority else "no",
            mechanisms="xoauth2" if tokens else "",
            more=more,
            prefix=prefix,
            separator=prefix[-1:] or "/",
        )
    )
    people = {USER: PASSWORD, USER_ABROAD: PASSWORD_ABROAD}
    lines = [f"{user}:{{PLAIN}}{password}::::::\n" for user, password in people.items()]
    (home / "users").write_text("".join(lines))
    for name in ("run", "state", "mail"):
        (home / name).mkdir()
    drop: dict[str, Any] = {}
    if os.geteuid() == 0:
        for path in (home, *home.iterdir()):
            os.chown(path, account.pw_uid, account.pw_gid)
        drop = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    with (home / "out.log").open("wb") as out:
        process = subprocess.Popen(
            [PROGRAM, "-F", "-c", config], stdout=out, stderr=subprocess.STDOUT, **drop
        )
    try:
        _wait_for(port, process, home)
        yield Dovecot(port, home, tls_port)
    finally:
        process.terminate()
        process.wait(60)
        shutil.rmtree(home, ignore_errors=True)


def _wait_for(port: int, process: subprocess.Popen, home: Path) -> None:
    until = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    logs = "".join(path.read_text() for path in home.glob("*.log"))
    pytest.fail(f"Dovecot does not start:\n{logs}")
