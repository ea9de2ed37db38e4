"""What is changed while a source is pulled counts at once, and what goes wrong is written down."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client

from filters.people.models import User
from filters.runs.models import SetAside
from filters.site.work import set_aside
from filters.sources import tasks
from filters.sources.accounts.credentials import keep_secret
from filters.sources.models import Folder, Pull, Source, SyncState
from filters.sources.pull import pulling
from filters.sources.pull.sync_state import StoredSyncStates
from filters.sources.schedule import due
from filters.upkeep.forgetting import forget
from tapestry.core.clock import HOUR, MINUTE, wall_clock
from tapestry.core.errors import OwnFaultError, TapestryError
from tapestry.ingest import ingest_batch
from tapestry.ingest import pull as pull_account
from tapestry.ingest.pull import FolderReport
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import Receipt
from tests.support.faults.set_asides import Planted
from tests.support.people.publishers import let_publish
from tests.support.servers.fake_servers import FakeImap, FakeNews, letter

pytestmark = pytest.mark.django_db(transaction=True)

Change = Callable[[], Any]
SignIn = Callable[[User], Client]


class Meanwhile:
    """Have something done, once, when a server is told a command."""

    def __init__(self, command: str, change: Change) -> None:
        self.command, self.change, self.done = command, change, False

    def __call__(self, _say: Any, command: str, _argument: str, _place: str) -> None:
        if command == self.command and not self.done:
            self.done = True
            self.change()
            connection.close()


def source_at(server: Any, owner: User, audience: str = "public", user: str = "") -> Source:
    let_publish(owner)
    made = Source(
        owner=owner,
        kind="imap" if user else "nntp",
        host="127.0.0.1",
        port=server.port,
        security="none",
        user=user,
        folder_patterns=["INBOX"] if user else ["a.b"],
        active=True,
        audience=audience,
    )
    keep_secret(made, "secret" if user else "")
    made.save()
    return made


@pytest.fixture
def news() -> Iterator[FakeNews]:
    with FakeNews({"a.b": {n: letter(n) for n in range(1, 6)}}) as server:
        yield server


def pull(source: Source) -> None:
    tasks.pull_source(source.pk)
    source.refresh_from_db()


def audiences(tables: Tables) -> Counter[str]:
    return Counter(tables.open("messages").to_pyarrow_table().column("audience").to_pylist())


def pause() -> None:
    Source.objects.update(active=False)


def make_private() -> None:
    Source.objects.update(audience="user:alice")


def move() -> None:
    Source.objects.update(host="localhost")


def dismiss() -> None:
    User.objects.update(is_active=False)


def leave() -> None:
    Group.objects.get().user_set.clear()


def delete() -> None:
    Source.objects.get().delete()


def forget_it() -> None:
    forget("group:parc")


@pytest.mark.parametrize("change", [pause, make_private, move, dismiss, leave, delete])
@pytest.mark.parametrize("command", ["OVER", "ARTICLE"])
def test_what_was_fetched_is_not_kept_once_it_may_not_be(
    news: FakeNews,
    alice: User,
    tables: Tables,
    caplog: pytest.LogCaptureFixture,
    command: str,
    change: Change,
) -> None:
    source = source_at(news, alice, "group:parc")
    news.hook = Meanwhile(command, change)
    with caplog.at_level(logging.WARNING):
        tasks.pull_source(source.pk)
    assert news.hook.done and audiences(tables) == {}
    assert not Pull.objects.exists() and caplog.text == ""
    assert not Source.objects.exclude(error="").exists()


@pytest.mark.parametrize("change", [pause, make_private, dismiss, leave, delete, forget_it])
def test_what_waits_for_the_clock_by_then_is_not_published(
    news: FakeNews,
    alice: User,
    tables: Tables,
    monkeypatch: pytest.MonkeyPatch,
    change: Change,
) -> None:
    source = source_at(news, alice, "group:parc")
    append = ingest_batch.append_messages

    def wait(*args: Any, **given: Any) -> Receipt:
        change()
        return append(*args, **given)

    monkeypatch.setattr(ingest_batch, "append_messages", wait)
    tasks.pull_source(source.pk)
    assert audiences(tables) == {}
    assert not Folder.objects.filter(read__gt=0).exists()


def test_what_is_made_private_meanwhile_is_fetched_again(
    news: FakeNews, alice: User, tables: Tables
) -> None:
    source = source_at(news, alice)
    news.hook = Meanwhile("ARTICLE", make_private)
    pull(source)
    pull(source)
    assert audiences(tables) == {"user:alice": 5}


def test_for_whom_may_not_sign_in_any_more_nothing_is_pulled(news: FakeNews, alice: User) -> None:
    source = source_at(news, alice)
    dismiss()
    pull(source)
    assert news.log == []


def test_what_has_come_is_appended_after_some_seconds(
    news: FakeNews, alice: User, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_batch, "BATCH_SECONDS", 0.0)
    pull(source_at(news, alice))
    instants = tables.open("messages").to_pyarrow_table().column("ts").to_pylist()
    assert len(set(instants)) == 5


def test_the_page_says_how_much_of_a_folder_has_been_read(
    news: FakeNews, alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_batch, "BATCH", 2)
    source = source_at(news, alice)
    page = source.get_absolute_url()
    for reached in ("2 of 5 read", "4 of 5 read"):
        pulling.pull(source, seconds=0.0)
        assert reached in as_user(alice).get(page).content.decode()
    pull(source)
    assert "of 5 read" not in as_user(alice).get(page).content.decode()


def test_a_line_that_broke_is_not_reached_again_for_what_was_paused(
    news: FakeNews, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pull_account, "FIRST_PAUSE", 0.01)

    def hang_up(_say: Any, command: str, _argument: str, _place: str) -> bool | None:
        if command != "GROUP":
            return None
        pause()
        connection.close()
        return False

    news.hook = hang_up
    source = source_at(news, alice)
    pull(source)
    assert sum(told.startswith("GROUP") for told in news.log) == 1
    assert (source.error, source.failures) == ("", 0)


class Counting(FakeImap):
    """A server that counts changes, and says that there were none."""

    capabilities = "IMAP4rev1 CONDSTORE"

    def hook(self, say: Any, command: str, _argument: str, _place: str) -> bool | None:
        if command != "STATUS":
            return None
        say('* STATUS "INBOX" (UIDVALIDITY 1 HIGHESTMODSEQ 7)', "TAG OK done")
        return True


def test_what_is_remembered_of_a_folder_holds_for_one_account_and_audience(
    alice: User, tables: Tables
) -> None:
    with Counting({"INBOX": {1: letter(1)}}) as server:
        source = source_at(server, alice, "user:alice", user="one")
        pull(source)
        pull(source)
        assert sum("EXAMINE" in told for told in server.log) == 1
        Source.objects.update(audience="public")
        pull(source)
        assert audiences(tables) == {"user:alice": 1, "public": 1}
        server.folders["INBOX"] = {1: letter(2)}
        Source.objects.update(user="another")
        pull(source)
        assert audiences(tables) == {"user:alice": 1, "public": 2}


def test_whatever_a_message_is_called_can_be_remembered(news: FakeNews, alice: User) -> None:
    memory = StoredSyncStates("nntp://x.org:119", "user:alice")
    for marks in ({"1": "\udcfc@x.org"}, {"1": "\0@x.org"}, {"1": "ü@x.org"}):
        memory.save("a.b", {"marks": marks})
        assert memory.load("a.b")["marks"] == marks
        stored = json.dumps(SyncState.objects.get().state).replace("\\\\", "")
        assert "\\udcfc" not in stored and "\\u0000" not in stored


def test_whatever_a_server_says_can_be_stored(
    news: FakeNews, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = TapestryError("Acc\udce8s\0 refused.", hint="\udce8")
    reports = [FolderReport("de.gr\udcfc", error=error), FolderReport("de.\udcdf")]
    monkeypatch.setattr(pulling, "pull_account", lambda *_args, **_named: iter(reports))
    source = source_at(news, alice)
    pull(source)
    assert (source.error, source.hint) == ("Acc?s refused.", "?")
    assert [folder.name for folder in Folder.objects.all()] == [r"de.\udcdf", r"de.gr\udcfc"]


@pytest.mark.parametrize("step", ["run", "succeed", "_note_quiet"])
def test_what_nobody_foresaw_is_set_aside_and_tried_again_after_ever_longer(
    news: FakeNews,
    alice: User,
    as_user: SignIn,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    set_asides: Planted,
) -> None:
    def fails(_work: Any) -> None:
        raise KeyError("nobody foresaw this")

    errors = set_asides.expect()
    source = source_at(news, alice)
    waits = []
    with monkeypatch.context() as broken:
        broken.setattr(pulling._Work, step, fails)
        for failures in (1, 2, 3):
            began = wall_clock()
            pull(source)
            assert (len(errors), source.failures) == (failures, failures)
            waits.append((source.due_at - began) // (MINUTE // 2))
    assert waits == [1, 2, 4] and due() == []
    reason = set_aside.reason_of(SetAside.Kind.SOURCE, source.pk)
    assert "its operator sees why" in reason.lower() and source.error == reason
    assert reason in as_user(alice).get(source.get_absolute_url()).content.decode()
    set_aside.try_now()
    assert due() == [source.pk]
    pull(source)
    assert (source.error, source.failures) == ("", 0) and not SetAside.objects.exists()


@pytest.mark.parametrize(("edit", "stays_due"), [({"user": "jones"}, False), ({"due_at": 7}, True)])
def test_an_error_that_nobody_foresaw_undoes_nothing_that_was_edited_meanwhile(
    news: FakeNews,
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
    edit: dict[str, Any],
    stays_due: bool,
    set_asides: Planted,
) -> None:
    source = source_at(news, alice)

    def fails(_work: Any) -> None:
        Source.objects.filter(pk=source.pk).update(**{"due_at": 7} | edit)
        raise KeyError("nobody foresaw this")

    set_asides.expect()
    monkeypatch.setattr(pulling._Work, "run", fails)
    pull(source)
    assert source.due_at == 7
    assert bool(source.error) == stays_due, "only the account that failed has its error"


def test_an_error_that_nobody_foresaw_in_a_folder_is_set_aside_and_the_others_are_pulled(
    news: FakeNews, alice: User, monkeypatch: pytest.MonkeyPatch, set_asides: Planted
) -> None:
    reports = [FolderReport("one", error=OwnFaultError("Ours.")), FolderReport("two")]
    monkeypatch.setattr(pulling, "pull_account", lambda *_args, **_named: iter(reports))
    errors = set_asides.expect()
    source = source_at(news, alice)
    pull(source)
    assert len(errors) == source.failures == 1 and SetAside.objects.count() == 1
    assert set(Folder.objects.values_list("name", "error")) == {("one", "Ours."), ("two", "")}


def test_a_pull_is_one_line_of_the_log_with_counts_and_no_names(
    news: FakeNews, alice: User, caplog: pytest.LogCaptureFixture
) -> None:
    source = source_at(news, alice)
    with caplog.at_level("INFO", logger="filters.sources.pull.pulling"):
        pull(source)
    (line,) = [record.getMessage() for record in caplog.records if "pull " in record.getMessage()]
    assert line.startswith(f"pull source_id={source.pk} kind=nntp folders=1 read=")
    assert line.endswith("error=null") and " seconds=" in line
    assert source.host not in line and "a.b" not in line


def test_everybodys_first_source_is_due_before_anybodys_second(
    news: FakeNews, alice: User, bob: User
) -> None:
    many = [source_at(news, alice) for _ in range(4)]
    theirs = source_at(news, bob)
    for at, source in enumerate([*many, theirs]):
        Source.objects.filter(pk=source.pk).update(due_at=at)
    assert due(limit=3) == [many[0].pk, theirs.pk, many[1].pk]


def test_a_source_is_complete_up_to_the_start_of_a_pull_that_ended(
    news: FakeNews, alice: User, tables: Tables, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = source_at(news, alice)
    monkeypatch.setattr(pulling, "SLICE", 0.0)
    before = wall_clock()
    pulling.pull(source, seconds=-1.0)
    source.refresh_from_db()
    begun = source.complete_until
    pull(source)
    first = source.complete_until
    assert first is not None and before <= first <= wall_clock()
    assert begun is None or begun < first
    Source.objects.update(folder_patterns=["a.b", "no.such"])
    pull(source)
    assert source.complete_until == first, "a group could not be read"
    Source.objects.update(complete_until=wall_clock() - HOUR)
    page = as_user(alice).get("/sources/").content.decode()
    assert "complete up to" in page and "1 hour behind" in page
    choose = {"folders": "a.b"}
    as_user(alice).post(f"/source/{source.pk}/places/", choose)
    source.refresh_from_db()
    assert source.complete_until is None, "other groups were chosen"
    pull(source)
    assert source.complete_until is not None and source.complete_until > first
