"""An mbox on a web server: it is taken in as a file is, and is not kept."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from tapestry.core.errors import TapestryError
from tapestry.core.processes.child_process import free_port
from tapestry.ingest.archive.download import downloaded
from tapestry.tables.delta.log import Tables
from tests.support.clocks import MemoryClock
from tests.support.intake import ingest
from tests.support.servers.http_recorder import Recorder, Reply, recording_server

LETTERS = "".join(
    f"From a@x Thu Jan  1 00:00:00 2026\nMessage-ID: <{n}@x>\n\n{'Yes. ' * 99}\n\n" for n in "ab"
)


@pytest.fixture
def server() -> Iterator[Recorder]:
    with recording_server(Reply(200, gzip.compress(LETTERS.encode()))) as running:
        yield running


@pytest.mark.parametrize("path", ["/git/all.mbox.gz", "/git/?q=s:bisect&x=m", ""])
def test_what_a_server_has_is_taken_in_and_goes_on(
    server: Recorder, tmp_path: Path, path: str
) -> None:
    tables, clock = Tables(tmp_path / "tables"), MemoryClock()
    added = []
    for more in ("", LETTERS.replace("@x>", "@y>")):
        server.replies[:] = [Reply(200, gzip.compress((LETTERS + more).encode()))]
        with downloaded(server.url(path), tables.root) as what:
            report = ingest(what, tables, clock)
            added.append((report.read, report.added))
    assert added == [(2, 2), (2, 2)]
    assert not list((tables.root / "downloads").iterdir())


def test_a_file_of_this_machine_is_left_where_it_is(tmp_path: Path) -> None:
    with downloaded("~/mail.mbox", tmp_path) as what:
        assert what == "~/mail.mbox"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("status", [404, 500])
def test_what_a_server_does_not_give_is_one_sentence(
    server: Recorder, tmp_path: Path, status: int
) -> None:
    server.replies[:] = [Reply(status)]
    with (
        pytest.raises(TapestryError, match=f"is answered with status {status}"),
        downloaded(server.url(), tmp_path),
    ):
        pass
    with (
        pytest.raises(TapestryError, match="cannot be fetched"),
        downloaded(f"http://127.0.0.1:{free_port()}/x", tmp_path),
    ):
        pass
