"""Names of accounts and groups: mail does not pass to whoever takes one later."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client

from filters.people.models import RetiredName, User
from filters.reading import reading
from filters.runs.store.filter_store import DjangoClock
from filters.site.work.parts import services
from filters.upkeep.forgetting import forget
from tapestry.core.message import Message
from tapestry.tables.delta.log import Tables
from tapestry.tables.write.append import append_messages
from tapestry.tables.write.audience_markers import has_rows, mark_audiences
from tests.support.intake import ingest

AsUser = Callable[[User], Client]


@pytest.fixture
def root(db: None) -> User:
    """Return somebody who may do everything under /admin/."""
    return User.objects.create_superuser("root", "root@example.org", "secret")


@pytest.mark.parametrize("how", ["deleted", "renamed"])
def test_the_name_of_an_account_passes_to_another_only_once_its_mail_is_forgotten(
    mail: Tables, alice: User, how: str
) -> None:
    assert reading.read(alice, "secret@example.org")
    if how == "deleted":
        alice.delete()
    else:
        alice.username = "alicia"
        alice.save()
    with pytest.raises(ValidationError, match="forget --audience user:alice"):
        User.objects.create_user("alice")
    forget("user:alice", before=1)
    with pytest.raises(ValidationError):
        User.objects.create_user("alice")
    forget("user:alice")
    assert reading.read(User.objects.create_user("alice"), "secret@example.org") is None


def test_one_may_have_ones_own_old_name_again(mail: Tables, alice: User) -> None:
    for name in ("alicia", "alice"):
        alice.username = name
        alice.save()
    assert User.objects.get(pk=alice.pk).username == "alice"


def test_an_old_name_is_that_of_the_last_who_had_it(tables: Tables, alice: User) -> None:
    alice.username = "alicia"
    alice.save()
    second = User.objects.create_user("alice")
    append_messages(tables, DjangoClock(), [Message("second@x", audience="user:alice")])
    second.username = "second"
    second.save()
    alice.username = second.username = "alice"
    with pytest.raises(ValidationError, match="forget --audience user:alice"):
        alice.save()
    second.save()
    assert reading.read(second, "second@x")


def test_a_name_that_no_mail_goes_by_is_free(mail: Tables, alice: User) -> None:
    alice.username = "alicia"
    alice.save()
    alice.delete()
    User.objects.create_user("alicia")
    with pytest.raises(ValidationError):
        User.objects.create_user("alice")


def test_the_name_of_a_group_passes_on_only_once_its_mail_is_forgotten(
    mail: Tables, alice: User
) -> None:
    staff = Group.objects.create(name="all staff")
    append_messages(mail, DjangoClock(), [Message("staff@x", audience="group:all staff")])
    staff.delete()
    Group.objects.filter(name="parc").delete()
    with pytest.raises(ValidationError, match="--audience group:parc"):
        Group.objects.create(name="parc")
    with pytest.raises(ValidationError, match="--audience 'group:all staff'"):
        Group.objects.create(name="all staff")
    forget("group:parc")
    Group.objects.create(name="parc")


def test_a_new_name_by_which_mail_is_here_already_is_refused(
    mail: Tables, bob: User, root: User, as_user: AsUser
) -> None:
    append_messages(mail, DjangoClock(), [Message("staff@x", audience="group:all staff")])
    with pytest.raises(ValidationError, match="forget --audience user:alice"):
        User.objects.create_user("alice")
    with pytest.raises(ValidationError, match="the new group could read it"):
        Group.objects.create(name="all staff")
    bob.username = "alice"
    with pytest.raises(ValidationError, match="Mail for user:alice is here already"):
        bob.save()
    given = {"username": "alice", "usable_password": "true"}
    given |= {"password1": "a long secret", "password2": "a long secret"}
    page = as_user(root).post("/admin/people/user/add/", given)
    assert page.status_code == 200 and "Mail for user:alice is here" in page.content.decode()
    forget("user:alice")
    User.objects.create_user("alice")


def test_a_marker_without_rows_keeps_no_name(mail: Tables) -> None:
    mark_audiences(mail.root, ["user:eve"])
    User.objects.create_user("eve")


def test_an_import_marks_its_audience(data: Path, db: None) -> None:
    assert not has_rows(services.tables(), "user:alice")
    letters = (
        f"From joe  Fri Jan  2 14:26:52 2004\nMessage-ID: <{n}@x>\n\nhi\n\n" for n in range(4001)
    )
    (data / "box").write_text("".join(letters))
    ingest(str(data / "box"), services.tables(), DjangoClock(), "user:alice")
    with pytest.raises(ValidationError):
        User.objects.create_user("alice")


@pytest.mark.parametrize("name", ["STRASSE", "straße", "ｓｔｒａｓｓｅ"])
def test_a_name_that_differs_by_other_forms_of_letters_is_refused(db: None, name: str) -> None:
    User.objects.create_user("strasse")
    with pytest.raises(ValidationError, match="of a name like"):
        User(username=name).save()


def test_the_name_of_an_account_that_is_gone_while_its_mail_is_here_is_refused(
    mail: Tables, alice: User
) -> None:
    alice.username = "alicia"
    alice.save()
    with pytest.raises(ValidationError, match="forget --audience user:alice"):
        User.objects.create_user("Alice")
    alice.username = "Alice"
    alice.save()
    forget("user:alice")
    alice.delete()
    User.objects.create_user("ALICE")


def test_a_name_that_differs_by_capitals_alone_is_refused(alice: User, bob: User) -> None:
    with pytest.raises(ValidationError, match="like ALICE"):
        User.objects.create_user("ALICE")
    bob.username = "Alice"
    with pytest.raises(ValidationError):
        bob.save()
    alice.username = "Alice"
    alice.save()


def test_createsuperuser_says_so_in_a_sentence(
    mail: Tables, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.delete()
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "secret")
    with pytest.raises(CommandError, match="alice was the name of another account"):
        call_command("createsuperuser", "--noinput", username="alice", email="a@example.org")


def test_the_administration_pages_refuse_such_names(
    root: User, mail: Tables, alice: User, as_user: AsUser
) -> None:
    alice.delete()
    Group.objects.filter(name="parc").delete()
    browser = as_user(root)
    password = {"password1": "a long secret", "password2": "a long secret"}
    given = {"username": "alice", "usable_password": "true", **password}
    page = browser.post("/admin/people/user/add/", given)
    assert page.status_code == 200 and "was the name of another account" in page.content.decode()
    page = browser.post("/admin/people/user/add/", {**given, "username": "ROOT"})
    assert page.status_code == 200
    page = browser.post("/admin/auth/group/add/", {"name": "parc"})
    assert page.status_code == 200 and "was the name of another group" in page.content.decode()
    assert browser.post("/admin/people/user/add/", {**given, "username": "eve"}).status_code == 302
    assert browser.post("/admin/auth/group/add/", {"name": "xerox"}).status_code == 302
    assert "user:alice" in browser.get("/admin/people/retiredname/").content.decode()
    former = RetiredName.objects.get(name="user:alice")
    page = browser.post(f"/admin/people/retiredname/{former.pk}/delete/", {"post": "yes"})
    assert page.status_code == 403


def test_the_administration_pages_keep_the_names_there_are(
    root: User, alice: User, as_user: AsUser
) -> None:
    group = Group.objects.get(name="parc")
    browser = as_user(root)
    assert (
        'name="username"'
        not in browser.get(f"/admin/people/user/{alice.pk}/change/").content.decode()
    )
    browser.post(
        f"/admin/people/user/{alice.pk}/change/",
        {
            "username": "alicia",
            "email": "new@example.org",
            "date_joined_0": "2026-01-01",
            "date_joined_1": "12:00:00",
            **{"time_zone": "UTC", "timeliness": "at once"},
            "is_active": "on",
        },
    )
    alice.refresh_from_db()
    assert (alice.username, alice.email) == ("alice", "new@example.org")
    browser.post(f"/admin/auth/group/{group.pk}/change/", {"name": "xerox"})
    group.refresh_from_db()
    assert group.name == "parc"
