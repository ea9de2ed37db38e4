"""The address that a client is counted as, behind proxies and without."""

from __future__ import annotations

import os
import subprocess
import sys
from io import StringIO
from typing import Any

import pytest
from django.core import checks
from django.test import RequestFactory

from filters.people.signing_in.client_address import client_address, counted_as
from filters.site.management.commands import up
from tests.support.paths import ROOT


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, None, "127.0.0.1"),
        (0, "192.0.2.1", "127.0.0.1"),
        (1, "192.0.2.1", "192.0.2.1"),
        (1, "198.51.100.9, 192.0.2.1", "192.0.2.1"),
        (2, "198.51.100.9, 192.0.2.1, 10.0.0.1", "192.0.2.1"),
        (2, "192.0.2.1", "127.0.0.1"),
        (1, None, "127.0.0.1"),
        (1, "unknown", "127.0.0.1"),
        (1, "192.0.2.1:4711", "192.0.2.1"),
        (1, "[2001:DB8:0:0::7]:4711", "2001:db8::7"),
    ],
)
def test_the_entry_that_the_nearest_trusted_proxies_wrote_counts(
    settings: Any, proxies: int, forwarded: str | None, address: str
) -> None:
    settings.PROXIES = proxies
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    assert client_address(RequestFactory().get("/", headers=headers)) == address


def test_a_connection_without_an_address_is_counted() -> None:
    request = RequestFactory().get("/", REMOTE_ADDR="")
    assert counted_as(client_address(request)) == "unknown"


def test_an_ipv6_client_is_its_network() -> None:
    assert counted_as("2001:db8:1:2::1") == counted_as("2001:db8:1:2:ffff::1")
    assert counted_as("2001:db8:1:2::1") != counted_as("2001:db8:1:3::1")


@pytest.mark.parametrize(
    ("proxies", "hosts", "warning"),
    [
        (0, [], None),
        (1, ["mail.example.org"], None),
        (0, ["mail.example.org"], "all who sign in are counted as one address"),
        (1, [], "clients choose the address that they are counted as"),
    ],
)
def test_a_check_warns_where_the_number_looks_wrong(
    settings: Any, proxies: int, hosts: list[str], warning: str | None
) -> None:
    settings.PROXIES = proxies
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *hosts]
    found = [check for check in checks.run_checks() if check.id == "filters.W001"]
    assert [warning in check.msg for check in found] == ([True] if warning else [])


def test_up_says_so(settings: Any) -> None:
    settings.ALLOWED_HOSTS, settings.PROXIES = ["mail.example.org"], 0
    told = StringIO()
    up.Command(stderr=told).warn()
    assert told.getvalue().startswith("warning: TAPESTRY_HOSTS is set, but TAPESTRY_PROXIES")


@pytest.mark.parametrize("number", ["two", "-1", "1.5", "99"])
def test_a_number_that_is_none_is_refused_in_words(number: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env={**os.environ, "TAPESTRY_PROXIES": number},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "error: TAPESTRY_PROXIES is not a number of proxies." in done.stderr
    assert "Traceback" not in done.stderr
