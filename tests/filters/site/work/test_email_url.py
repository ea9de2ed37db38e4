"""EMAIL_URL: what cannot be read is one sentence, whatever command is run."""

from __future__ import annotations

import subprocess
import sys

import pytest

from filters.site.settings.email_url import email_settings
from tapestry.core.errors import TapestryError
from tests.support.paths import ROOT


@pytest.mark.parametrize(
    "url", ["nonsense", "http://x.org", "smtp://h:99999", "smtp://h:x", "smtp://", "smtp+tls://"]
)
def test_what_is_no_mail_server_is_refused(url: str) -> None:
    with pytest.raises(TapestryError, match="EMAIL_URL"):
        email_settings(url)


@pytest.mark.parametrize(
    ("url", "port"),
    [("smtp://h", 25), ("smtp+tls://h", 587), ("smtp+ssl://h", 465), ("smtp://h:2525", 2525)],
)
def test_a_port_that_is_not_named_is_the_usual_one(url: str, port: int) -> None:
    assert email_settings(url)["EMAIL_PORT"] == port


def test_a_command_says_so_and_ends() -> None:
    run = subprocess.run(
        [sys.executable, "manage.py", "explain", "from joe"],
        cwd=ROOT,
        env={"EMAIL_URL": "nonsense", "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert run.stderr.startswith("error: EMAIL_URL is not the address of a mail server.\n")
    assert "Traceback" not in run.stderr
