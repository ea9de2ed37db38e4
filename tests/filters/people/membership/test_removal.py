"""The deletion of an account: what goes, what stays, and who is told."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from filters.authoring import lifecycle
from filters.authoring.models import Filter, Reference
from filters.people.membership import invitations
from filters.people.membership.removal import removals
from filters.people.membership.removal.consequences import is_last_administrator
from filters.people.membership.views import data as data_views
from filters.people.models import Removal, RetiredName, User
from filters.reading import reading
from filters.reading.annotations.outbox import annotate, append_outbox
from filters.reading.models import OutboxAnnotation
from filters.runs.models import SetAside
from filters.runs.store.filter_store import DjangoClock
from filters.sources.models import Source
from filters.upkeep.forgetting import forget
from tapestry.core.message import PUBLIC, Annotation
from tapestry.tables.delta.log import Tables
from tapestry.tables.read.messages import annotations_on, copies
from tapestry.tables.write.append import append_annotations
from tapestry.tables.write.audience_markers import has_rows
from tests.support.faults.set_asides import Planted
from tests.support.people.second_factors import PASSWORD, code, give_app

SignIn = Callable[[User], Client]

NEW = "three quiet looms"

SURE = {"password": PASSWORD, "sure": "on"}


def delete(client: Client, **given: str) -> str:
    """Delete an account; return the address that tells how far it is."""
    return client.post("/me/delete/", {**SURE, **given}).headers.get("Location", "")


def test_mail_for_them_alone_goes_and_what_is_others_stays(
    mail: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    append_annotations(
        mail, DjangoClock(), [Annotation("a-1", "parc@example.org", "alice", "tag", "hot")]
    )
    client, elsewhere = as_user(alice), as_user(alice)
    address = delete(client)
    page = client.get(address).content.decode()
    assert "All of it is gone" in page and "alice" in page
    assert not User.objects.filter(username="alice").exists()
    assert not has_rows(mail, "user:alice")
    assert copies(mail, "secret@example.org", ["user:alice"]) == []
    assert reading.read(bob, "parc@example.org") and reading.read(bob, "plan@example.org")
    found = annotations_on(mail, ["parc@example.org"], ["public"])
    assert [row.annotation.owner for row in found] == ["alice"]
    for browser in (client, elsewhere):
        assert browser.get("/")["Location"].startswith("/sign-in/")


def test_what_they_said_last_is_heard(mail: Tables, alice: User, as_user: SignIn) -> None:
    append_annotations(
        mail, DjangoClock(), [Annotation("a-1", "parc@example.org", "alice", "tag", "hot")]
    )
    annotate(alice, "parc@example.org", PUBLIC, "vote", number=1)
    annotate(alice, "parc@example.org", PUBLIC, "retraction", value="a-1")
    annotate(alice, "parc@example.org", "user:alice", "note", value="mine")
    delete(as_user(alice))
    found = annotations_on(mail, ["parc@example.org"], ["public", "user:alice"])
    assert {row.annotation.kind for row in found} == {"tag", "vote", "retraction"}


def test_nobody_goes_before_what_they_took_back_is_heard(
    mail: Tables, alice: User, monkeypatch: pytest.MonkeyPatch, set_asides: Planted
) -> None:
    errors = set_asides.expect()
    append_annotations(
        mail, DjangoClock(), [Annotation("a-1", "parc@example.org", "alice", "note", "hot")]
    )
    annotate(alice, "parc@example.org", PUBLIC, "retraction", value="a-1")
    removals.ask(alice)

    def fails(_: OutboxAnnotation) -> Annotation:
        raise KeyError

    with monkeypatch.context() as broken:
        broken.setattr(OutboxAnnotation, "as_annotation", fails)
        append_outbox(mail)
        removals.finish_waiting()
    removal = Removal.objects.get()
    assert [kind for kind, _, _ in errors] == ["message", "message", "step"]
    assert "cannot be stored yet" in removals.why_not(removal)
    assert User.objects.filter(username="alice").exists()
    SetAside.objects.filter(kind="step").update(try_again_at=0)
    removals.finish_waiting()
    assert not User.objects.filter(username="alice").exists()
    found = annotations_on(mail, ["parc@example.org"], ["public"])
    assert {row.annotation.kind for row in found} == {"note", "retraction"}
    assert not SetAside.objects.exists()


def test_a_private_note_that_cannot_be_stored_keeps_nobody(
    mail: Tables, alice: User, monkeypatch: pytest.MonkeyPatch, set_asides: Planted
) -> None:
    set_asides.expect()
    annotate(alice, "parc@example.org", PUBLIC, "note", value="hm", private=True)
    removals.ask(alice)

    def fails(_: OutboxAnnotation) -> Annotation:
        raise KeyError

    monkeypatch.setattr(OutboxAnnotation, "as_annotation", fails)
    removals.finish_waiting()
    assert not User.objects.filter(username="alice").exists()


def test_the_name_is_never_given_to_another(mail: Tables, alice: User, as_user: SignIn) -> None:
    delete(as_user(alice))
    forget("user:alice")
    assert RetiredName.objects.get(name="user:alice").is_kept
    with pytest.raises(ValidationError, match="belonged to someone who has left"):
        User.objects.create_user("alice")


@pytest.mark.parametrize("name", ["Alice", "ALICE", "ａｌｉｃｅ"])
def test_the_name_in_other_letters_is_never_given_to_another(
    mail: Tables, alice: User, bob: User, as_user: SignIn, settings: Any, name: str
) -> None:
    lifecycle.install(alice, "about plan", name="plans", mode="keep", visibility="shared")
    lifecycle.install(bob, "in alice's plans", name="hers", mode="keep", visibility="private")
    delete(as_user(alice))
    settings.SIGN_UP = "invitation"
    path = urlsplit(invitations.invite("mallory@example.org")[0]).path
    answer = Client().post(path, {"name": name, "password": NEW, "again": NEW})
    assert answer.status_code == 400 and "This name is taken." in answer.content.decode()
    root = User.objects.create_superuser("root", "root@example.org", PASSWORD)
    given = {"username": name, "usable_password": "true", "password1": NEW, "password2": NEW}
    page = as_user(root).post("/admin/people/user/add/", given)
    assert page.status_code == 200 and "someone who has left" in page.content.decode()
    with pytest.raises(CommandError, match="someone who has left"):
        call_command("createsuperuser", "--noinput", username=name, email="m@example.org")
    assert not User.objects.exclude(username__in=["bob", "root"]).exists()
    assert Filter.objects.get(owner=bob).tql == ""


def test_nobody_can_sign_in_while_it_is_deleted(
    mail: Tables, alice: User, as_user: SignIn, monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    Source.objects.create(
        owner=alice, kind="imap", host="x", port=993, audience="user:alice", active=True
    )
    monkeypatch.setattr(data_views, "send", lambda *_, **__: False)
    address = delete(as_user(alice))
    assert "is being deleted" in client.get(address).content.decode()
    given = {"username": "alice", "password": PASSWORD}
    assert client.post("/sign-in/", given).status_code == 200
    assert not Source.objects.get().active
    removals.finish_waiting()
    assert "All of it is gone" in client.get(address).content.decode()


def test_a_deletion_that_was_cut_off_is_finished(
    mail: Tables, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    removals.ask(alice)

    def cut_off(_: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(removals, "forget", cut_off)
        with pytest.raises(KeyboardInterrupt):
            removals.finish_waiting()
    assert has_rows(mail, "user:alice") and Removal.objects.get().done_at is None
    removals.finish_waiting()
    assert not has_rows(mail, "user:alice") and Removal.objects.get().messages == 1


def test_others_who_use_a_filter_are_counted_and_theirs_say_so(
    mail: Tables, alice: User, bob: User, as_user: SignIn
) -> None:
    lifecycle.install(alice, "about plan", name="plans", mode="keep", visibility="shared")
    lifecycle.install(bob, "in alice's plans", name="hers", mode="keep", visibility="private")
    assert Reference.objects.filter(owner="alice").exists()
    client = as_user(alice)
    page = client.get("/me/delete/").content.decode()
    assert "<b>plans</b> (1 person)" in page
    delete(client)
    hers = Filter.objects.get(owner=bob)
    assert hers.tql == "" and hers.error


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"password": "guessed"}, "That is not your password."),
        ({"password": ""}, "This field is required."),
        ({"sure": ""}, "Tick the box to confirm."),
    ],
)
def test_without_the_password_and_the_tick_nothing_goes(
    alice: User, as_user: SignIn, given: dict[str, str], sentence: str
) -> None:
    answer = as_user(alice).post("/me/delete/", {**SURE, **given})
    assert answer.status_code == 400 and sentence in answer.content.decode()
    assert User.objects.get(pk=alice.pk).is_active and not Removal.objects.exists()


def test_without_the_second_factor_nothing_goes(mail: Tables, alice: User, as_user: SignIn) -> None:
    client = Client()
    client.force_login(alice)
    give_app(alice)
    assert client.post("/me/delete/", SURE).status_code == 400
    assert User.objects.filter(pk=alice.pk).exists()
    assert delete(client, code=code()).startswith("/deleted/")


def test_guesses_at_the_password_of_a_removal_are_limited(alice: User, as_user: SignIn) -> None:
    client = as_user(alice)
    wrong = {**SURE, "password": "guessed"}
    statuses = [client.post("/me/delete/", wrong).status_code for _ in range(6)]
    assert statuses == [400] * 5 + [429]


def test_the_last_administrator_stays(db: None, as_user: SignIn) -> None:
    root = User.objects.create_superuser("root", "root@example.org", PASSWORD)
    client = as_user(root)
    assert "only administrator" in client.get("/me/delete/").content.decode()
    assert client.post("/me/delete/", SURE).status_code == 400
    User.objects.create_superuser("second", "second@example.org", PASSWORD)
    assert delete(client).startswith("/deleted/")


@pytest.mark.django_db(transaction=True)
def test_of_two_administrators_who_leave_at_one_time_one_stays(
    data: Path, as_user: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = [User.objects.create_superuser(name, password=PASSWORD) for name in ("root", "second")]
    clients, together = [as_user(root) for root in roots], threading.Barrier(2, timeout=240)

    def looked_at_together(user: User) -> bool:
        answer = is_last_administrator(user)
        together.wait()
        return answer

    monkeypatch.setattr(data_views, "is_last_administrator", looked_at_together)
    monkeypatch.setattr(data_views, "send", lambda *_, **__: False)

    def leave(client: Client) -> int:
        try:
            return client.post("/me/delete/", SURE).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor() as threads:
        assert sorted(threads.map(leave, clients)) == [302, 400]
    assert User.objects.filter(is_superuser=True, is_active=True).count() == 1
    assert Removal.objects.count() == 1


def test_the_page_that_tells_is_a_secret(db: None, alice: User) -> None:
    removals.ask(alice)
    assert Client().get("/deleted/guessed/").status_code == 404
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.create_user("new"))
    assert strict.post("/me/delete/", SURE).status_code == 403
