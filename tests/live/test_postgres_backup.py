"""A database that is reached by certificates alone is backed up and restored by them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode

import psycopg
import pytest
import trustme

from tests.support.faults.stored_world import ended, run
from tests.support.servers.postgres import running_postgres

pytestmark = pytest.mark.live


@pytest.fixture
def options(tmp_path: Path) -> dict[str, str]:
    """What a client needs, as it is given in DATABASE_URL."""
    return {
        "sslmode": "verify-full",
        "sslrootcert": str(tmp_path / "ca.pem"),
        "sslcert": str(tmp_path / "client.pem"),
        "sslkey": str(tmp_path / "client.key"),
        "connect_timeout": "60",
        "options": "-c statement_timeout=300000",
        "keepalives_idle": "30",
    }


@pytest.fixture
def server(options: dict[str, str]) -> Iterator[str]:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(options["sslrootcert"])
    client = authority.issue_cert("tapestry@example.org", common_name="tapestry")
    client.cert_chain_pems[0].write_to_path(options["sslcert"])
    client.private_key_pem.write_to_path(options["sslkey"])
    Path(options["sslkey"]).chmod(0o600)
    with running_postgres(authority) as url:
        yield url


def test_what_the_address_says_of_tls_is_heeded(
    server: str, options: dict[str, str], tmp_path: Path
) -> None:
    url = f"{server}?{urlencode(options, quote_via=quote)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE note AS SELECT 'as it was' AS words")
        connection.execute("CREATE DATABASE other")
    ended(run(tmp_path / "site", "backup", tmp_path / "backup", database=url))
    other = url.replace("/postgres?", "/other?")
    ended(run(tmp_path / "copy", "restore", tmp_path / "backup", database=other))
    with psycopg.connect(other) as connection:
        assert connection.execute("SELECT words FROM note").fetchall() == [("as it was",)]


def test_a_secret_that_others_could_read_is_not_given_on(
    server: str, options: dict[str, str], tmp_path: Path
) -> None:
    url = f"{server}?{urlencode(options, quote_via=quote)}"
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS note AS SELECT 1 AS number")
    program = run(tmp_path / "site", "backup", tmp_path / "b", database=f"{url}&sslpassword=secret")
    _, errors = program.communicate(timeout=300)
    assert program.returncode == 1 and "Leave sslpassword out of DATABASE_URL" in errors, errors
    assert not (tmp_path / "b").exists() and "secret" not in errors
