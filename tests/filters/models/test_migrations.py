"""Data of older installations, brought to what is kept now."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import StateApps

from filters.authoring import lifecycle
from filters.models import BrowserSession, Filter, Reference, SyncState
from filters.models.source import Source
from filters.sources.sync_state import StoredSyncStates


def test_filters_that_were_never_edited_get_their_references(bob: User, carol: User) -> None:
    lifecycle.install(bob, "about cricket", name="sport", visibility="shared")
    lifecycle.install(carol, "from filter", name="plain")
    lifecycle.install(carol, "in bob's sport and to me", name="hers")
    lifecycle.install(carol, "m IN hers AND m.subject HAS 'x'", name="narrow")
    gone = lifecycle.install(carol, "in filter narrow", name="gone")
    Filter.objects.filter(pk=gone.pk).update(text="in filter lost")
    Reference.objects.all().delete()
    step = importlib.import_module("filters.migrations.0005_references")
    step.note_references(apps, None)
    step.note_references(apps, None)
    found = Reference.objects.values_list("filter__name", "owner", "name")
    assert set(found) == {
        ("hers", "bob", "sport"),
        ("narrow", "carol", "hers"),
        ("narrow", "bob", "sport"),
        ("gone", "carol", "lost"),
    }
    assert len(found) == 4


@pytest.fixture
def migrate(transactional_db: None) -> Iterator[Callable[[str], StateApps]]:
    """Return what brings the database to a migration; the newest is restored at the end."""

    def to(name: str) -> StateApps:
        executor = MigrationExecutor(connection)
        return executor.migrate([("filters", name)]).apps

    newest = MigrationExecutor(connection).loader.graph.leaf_nodes("filters")[0][1]
    yield to
    to(newest)


def test_filters_that_refer_to_others_are_shown_as_they_were_written(
    migrate: Callable[[str], StateApps],
) -> None:
    old = migrate("0006_joint")
    owner = old.get_model("auth", "User").objects.create(username="bob")
    filters = owner.filters
    filters.create(name="sport", text="about cricket", tql="about cricket")
    made = filters.create(name="hers", text="m IN sport", phrase="about cricket", tql="-")
    old.get_model("filters", "Reference").objects.create(filter=made, owner="bob", name="sport")
    found = {"matched_at": 0, "found_at": 0, "shown_at": 0, "reason": "about cricket"}
    made.matches.create(msgid="m@x", audience="public", **found)
    filters = migrate("0011_proven").get_model("filters", "Filter").objects
    hers = filters.get(name="hers")
    assert (hers.phrase, hers.display_tql) == ("", "m IN sport")
    assert hers.matches.get().explanation == ""
    assert filters.get(name="sport").display_tql == ""


def test_sources_and_their_folders_keep_what_they_have(
    migrate: Callable[[str], StateApps],
) -> None:
    old = migrate("0009_vocabulary")
    owner = old.get_model("auth", "User").objects.create(username="old")
    source = owner.sources.create(
        kind="imap", host="x.org", port=993, audience="user:old", places=["A"], client="id",
        renewed="sealed", renewed_until=7,
    )  # fmt: skip
    known = {"of": "imaps://al%40x.org@x.org:993@user:old", "uidvalidity": 1}
    source.found.create(name="A", remembered=known, looked_at=5, read=3)
    migrate("0043_sync_states")
    migrated = Source.objects.get(pk=source.pk)
    assert (migrated.folder_patterns, migrated.client_id) == (["A"], "id")
    assert (migrated.access_token, migrated.access_token_until) == ("sealed", 7)
    folder, state = migrated.folders.get(), SyncState.objects.get()
    assert (folder.checked_at, folder.read) == (5, 3)
    assert (state.account, state.audience) == ("imaps://al%40x.org@x.org:993", "user:old")
    assert (state.folder, state.state) == ("A", {"uidvalidity": 1})


def test_what_was_withheld_is_still_asked_for(migrate: Callable[[str], StateApps]) -> None:
    old = migrate("0041_dead_letters")
    owner, reads = old.get_model("auth", "User").objects.create(username="old"), "imap://x.org:1"
    source = owner.sources.create(kind="imap", host="x.org", port=1, audience="public")
    of_folder, left = ({"numbering": 7, "missing": {number: [1, 0]}} for number in ("2", "3"))
    source.folders.create(name="A", sync_state={"of": f"{reads}@public", "withheld": of_folder})
    for folder in "AB":
        old.get_model("filters", "DeadLetters").objects.create(
            owner=f"{reads}@public", folder=folder, unavailable=left
        )
    migrate("0043_sync_states")
    assert StoredSyncStates(reads, "public").unavailable() == {"A": 2, "B": 1}


def test_who_is_signed_in_already_can_sign_out_everywhere(
    migrate: Callable[[str], StateApps],
) -> None:
    old = migrate("0023_publish_permission")
    owner = old.get_model("auth", "User").objects.create(username="old")
    for user_id in (owner.pk, owner.pk + 7, None):
        session = SessionStore()
        session["_auth_user_id"] = str(user_id)
        session.create()
    migrate("0028_people")
    recorded = BrowserSession.objects.get()
    assert recorded.owner_id == owner.pk
    assert SessionStore(recorded.session_key)["_auth_user_id"] == str(owner.pk)


def test_an_address_of_an_account_that_is_not_proven_is_a_claim(
    migrate: Callable[[str], StateApps],
) -> None:
    old = migrate("0031_appraisal")
    user, address = old.get_model("auth", "User"), old.get_model("filters", "Address")
    rows = {
        "given": None,
        "open": {},
        "proven": {"confirmed_at": 1},
        "on-a-page": {"confirmed_at": 1, "proven": False},
        "for-others": {"email": "else@x.org"},
    }
    for name, row in rows.items():
        owner = user.objects.create(username=name, email=f"{name}@x.org")
        if row is not None:
            address.objects.create(owner=owner, **{"email": f"{name.upper()}@x.org", **row})
    new = migrate("0032_claimed_email")
    claims = new.get_model("filters", "Profile").objects.values_list("claimed_email", flat=True)
    assert sorted(claims) == ["on-a-page@x.org", "open@x.org"]


@pytest.mark.django_db
def test_the_models_need_no_other_migration() -> None:
    from django.core.management import call_command

    call_command("makemigrations", "--check", "--dry-run", verbosity=0)
