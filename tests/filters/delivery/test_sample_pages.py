"""What a destination would send: the preview, and a sample that is sent once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import QuerySet
from django.test import Client

from filters.authoring.models import Filter
from filters.delivery import samples
from filters.delivery.batches import CARDS_BEING_MADE
from filters.delivery.models import Address, Delivery, Destination, Subscription
from filters.delivery.ways.way import OUTBOUND, Preview
from filters.inbox.models import Match, Mute
from filters.people.models import User
from filters.runs.store.release import release
from filters.sources.accounts import trials
from filters.sources.models import Trial
from filters.sources.tasks import run_trial
from tapestry.core.clock import MINUTE, SECOND, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.deliver.batch import Batch, Outcome
from tests.support.delivery.recorded_way import Recorder, Store, change_way

SignIn = Callable[[User], Client]


@pytest.fixture
def client(alice: User, as_user: SignIn) -> Client:
    return as_user(alice)


@pytest.fixture
def found(jones: Filter, store: Store) -> list[Match]:
    """Seven released matches of alice's, and one that she may not see."""
    store(jones, "secret", audience="user:bob")
    matches = [store(jones, f"m{number}") for number in range(7)]
    release()
    return matches


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def send(client: Client, to: Destination) -> str:
    response = client.post(f"/delivery/{to.pk}/send/", follow=True)
    assert response.status_code == 200
    return text(response)


def set_preview(way: Recorder, monkeypatch: pytest.MonkeyPatch, answer: Callable[..., Any]) -> None:
    change_way(monkeypatch, "webhook", send=way.send, preview=answer, most=None)


def test_the_preview_is_of_the_newest_and_sends_nothing(
    client: Client, hook: Destination, way: Recorder, found: list[Match]
) -> None:
    page = text(client.get(f"/delivery/{hook.pk}/preview/"))
    assert "3 for hook" in page, "one delivery of this way carries three"
    assert way.batches == [] and not Delivery.objects.exists()
    assert client.get(f"/delivery/{hook.pk}/preview/html/").status_code == 404, "it is text"


def test_a_sample_has_the_newest_five_of_its_filters_in_order(
    alice: User, hook: Destination, way: Recorder, found: list[Match], store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    set_preview(way, monkeypatch, way.preview)
    other = Filter.objects.create(owner=alice, name="other", text="x")
    store(other, "of other")
    store(other, "muted", root="loud")
    Mute.objects.create(owner=alice, root="loud")
    release()
    Match.objects.filter(msgid="m5").update(retracted_at=1)
    msgids = [match.msgid for match in samples.sample(hook, "sample-x").matches]
    assert msgids == ["m2", "m3", "m4", "m6", "of other"]
    Destination.objects.update(all_filters=False)
    hook.refresh_from_db()
    assert samples.sample(hook, "sample-x").matches == ()
    Subscription.objects.create(destination=hook, filter=other, since=100)
    assert [match.msgid for match in samples.sample(hook, "x").matches] == ["of other"]


def test_html_is_framed_where_it_can_do_nothing(
    client: Client, hook: Destination, way: Recorder, found: list[Match],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    html = "<p style='color:red'>Hi</p><script>alert(1)</script>"
    headers = (("Subject", "<3 new>"),)
    set_preview(way, monkeypatch, lambda *_: Preview("html", html, headers))
    page = text(client.get(f"/delivery/{hook.pk}/preview/"))
    assert "&lt;3 new&gt;" in page and "alert(1)" not in page
    assert f'<iframe class="written" src="/delivery/{hook.pk}/preview/html/"' in page
    framed = client.get(f"/delivery/{hook.pk}/preview/html/")
    assert framed.content.decode() == html
    policy = framed["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "sandbox" in policy and "script" not in policy
    assert framed["X-Frame-Options"] == "SAMEORIGIN"
    assert client.get("/delivery/")["X-Frame-Options"] == "DENY"


def test_a_preview_that_fails_says_why(
    client: Client, hook: Destination, way: Recorder, found: list[Match],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def fails(*_: Any) -> Preview:
        raise TapestryError("It has no address.", hint="Give it one.")

    set_preview(way, monkeypatch, fails)
    page = text(client.get(f"/delivery/{hook.pk}/preview/"))
    assert "It has no address. Give it one." in page
    assert client.get(f"/delivery/{hook.pk}/preview/html/").status_code == 404


def test_nothing_found_is_nothing_to_show_or_send(
    client: Client, hook: Destination, way: Recorder
) -> None:
    assert "nothing to show yet" in text(client.get(f"/delivery/{hook.pk}/preview/"))
    assert "There is nothing to send yet." in send(client, hook)
    assert way.batches == [] and not Delivery.objects.exists()


def test_one_is_sent_now_and_the_cursor_stays(
    client: Client, hook: Destination, way: Recorder, found: list[Match]
) -> None:
    before = Destination.objects.values().get()
    page = send(client, hook)
    assert "delivered" in page and "fine" in page and "alert" not in page
    [batch] = way.batches
    assert batch.key.startswith("sample-")
    assert [match.msgid for match in batch.matches] == ["m4", "m5", "m6"]
    assert Destination.objects.values().get() == before
    row = Delivery.objects.get()
    assert (row.key, row.state, row.matches, row.by_filter) == (batch.key, "delivered", 3, {})
    assert "One was sent within this minute." in send(client, hook)
    assert len(way.batches) == 1
    Delivery.objects.update(at=row.at - MINUTE)
    send(client, hook)
    assert len({batch.key for batch in way.batches}) == 2


def test_a_sample_of_a_held_destination_does_not_act_for_the_holder(
    hook: Destination, way: Recorder, found: list[Match], monkeypatch: pytest.MonkeyPatch
) -> None:
    holders = []

    def sent(destination: Destination, _: object) -> Outcome:
        holders.append(destination.holder)
        return Outcome("delivered")

    change_way(monkeypatch, "webhook", send=sent, preview=way.preview)
    Destination.objects.update(holder="another:1")
    samples.send(hook.owner, {"destination": hook.pk})
    assert holders == [""]
    run_trial(Trial.objects.create(owner=hook.owner, asked_at=1, begun_at=2).pk)
    assert len(holders) == 1, "the task was handed out twice"
    hook.refresh_from_db()
    assert hook.holder == "another:1"


def test_a_sample_that_fails_says_so_and_is_not_repeated(
    client: Client, hook: Destination, way: Recorder, found: list[Match]
) -> None:
    way.outcome = Outcome("retry", "The server is busy.")
    page = send(client, hook)
    assert "The server is busy." in page and "not sent" in page
    hook.refresh_from_db()
    assert (hook.failures, hook.due_at is None or hook.failing_since is None) == (0, True)


def test_nothing_is_sent_to_an_address_that_is_not_confirmed(
    client: Client, alice: User, hook: Destination, way: Recorder, found: list[Match]
) -> None:
    address = Address.objects.create(owner=alice, email="al@example.org")
    Destination.objects.update(address=address)
    assert "before you confirm that it is yours" in send(client, hook)
    Address.objects.update(confirmed_at=1)
    samples.ready(Destination.objects.get())
    Address.objects.update(problem="It bounced.")
    with pytest.raises(TapestryError, match="before you confirm"):
        samples.send(alice, {"destination": hook.pk})
    assert way.batches == []


def test_without_a_queue_nothing_is_promised(
    client: Client, hook: Destination, way: Recorder, found: list[Match],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(trials, "send", lambda *_args, **_options: False)
    assert "The queue (Redis) cannot be reached" in send(client, hook)
    assert not Delivery.objects.exists()


def test_a_sample_that_no_worker_took_up_says_so(
    client: Client, hook: Destination, way: Recorder, found: list[Match],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(trials, "send", lambda *_args, **options: not sent.append(options))
    assert "Sending it" in send(client, hook)
    assert sent[0]["queue"] == OUTBOUND
    Trial.objects.update(asked_at=wall_clock() - (trials.EXPIRES + 1) * SECOND)
    assert "The worker does not answer" in text(client.get(hook.get_absolute_url()))
    assert not Delivery.objects.exists()


def test_messages_that_are_being_made_ready_are_waited_for(
    client: Client, hook: Destination, way: Recorder, found: list[Match]
) -> None:
    Match.objects.filter(msgid="m6").update(refreshed_at=None)
    assert CARDS_BEING_MADE in text(client.get(f"/delivery/{hook.pk}/preview/"))
    assert client.get(f"/delivery/{hook.pk}/preview/html/").status_code == 404
    assert CARDS_BEING_MADE in send(client, hook)
    assert not Delivery.objects.exists()


def test_a_match_that_leaves_as_a_sample_is_made_is_left_out(
    hook: Destination, way: Recorder, found: list[Match], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = samples.delivered

    def delivered(stored: QuerySet[Match], *given: Any) -> Any:
        Match.objects.filter(msgid="m5").update(sequence=None)
        return made(stored, *given)

    monkeypatch.setattr(samples, "delivered", delivered)
    assert [match.msgid for match in samples.sample(hook, "x").matches] == ["m4", "m6"]


def test_nothing_is_sent_to_what_is_deleted_as_a_sample_is_made(
    hook: Destination, way: Recorder, found: list[Match],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    made = samples.sample

    def sample(destination: Destination, key: str) -> Batch:
        batch = made(destination, key)
        Destination.objects.all().delete()
        return batch

    monkeypatch.setattr(samples, "sample", sample)
    with pytest.raises(TapestryError, match="It was deleted meanwhile"):
        samples.send(hook.owner, {"destination": hook.pk})
    assert not Delivery.objects.exists() and way.batches == []
