"""The task about accounts: each kind of work, by one process; mail that fails comes again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from celery.exceptions import Retry
from django.test import Client

from filters.people import tasks
from filters.people.membership import invitations, mails, resets
from filters.people.membership.export import exports
from filters.people.membership.removal import removals
from filters.people.models import Export, Invitation, Removal, User
from filters.runs.models import SetAside
from filters.site.work import set_aside
from filters.site.work.parts import services
from tapestry.core.files.site_lock import site_lock
from tapestry.tables.delta.log import Tables
from tests.support.faults.set_asides import Planted
from tests.support.people.second_factors import confirm


def test_it_makes_exports_and_deletes_accounts(mail: Tables, alice: User, bob: User) -> None:
    exports.ask(bob)
    removals.ask(alice)
    Invitation.objects.create(email="x@x.org", digest="d", created_at=1, expires_at=2)
    tasks.tend_accounts()
    assert Export.objects.get().error == "" and Removal.objects.get().done_at
    assert not Invitation.objects.exists()


def test_not_while_another_process_does(mail: Tables, bob: User) -> None:
    exports.ask(bob)
    with site_lock(services.data() / "run" / "accounts.lock"):
        tasks.tend_accounts()
    assert Export.objects.get().ended_at is None


def test_one_that_fails_holds_up_no_other(
    mail: Tables,
    alice: User,
    bob: User,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    set_asides: Planted,
) -> None:
    errors = set_asides.expect()
    tokens = [removals.ask(user) for user in (alice, bob)]
    finish = removals._finish

    def fail_for_alice(removal: Removal) -> None:
        if removal.name == "alice":
            raise RuntimeError
        finish(removal)

    with monkeypatch.context() as broken:
        broken.setattr(removals, "_finish", fail_for_alice)
        tasks.tend_accounts()
    left = Removal.objects.get(done_at=None)
    assert left.name == "alice" and len(errors) == 1
    page = client.get(f"/deleted/{tokens[0]}/").content.decode()
    assert removals.why_not(left) and removals.why_not(left) in page
    removals.finish_waiting()
    assert Removal.objects.filter(done_at=None).exists(), "its time has not come"
    set_aside.try_now()
    removals.finish_waiting()
    assert not Removal.objects.filter(done_at=None).exists() and not SetAside.objects.exists()


def test_an_export_that_raises_costs_no_other_and_is_made_later(
    mail: Tables,
    alice: User,
    bob: User,
    as_user: Callable[[User], Client],
    monkeypatch: pytest.MonkeyPatch,
    set_asides: Planted,
) -> None:
    errors = set_asides.expect()
    write = exports.write

    def fail_for_alice(user: User, path: Path) -> Any:
        if user == alice:
            raise KeyError
        return write(user, path)

    asked = {user: exports.ask(user) for user in (alice, bob)}
    with monkeypatch.context() as broken:
        broken.setattr(exports, "write", fail_for_alice)
        tasks.tend_accounts()
    assert Export.objects.get(ended_at=None).owner == alice and len(errors) == 1
    why = exports.why_not(asked[alice])
    client = as_user(alice)
    confirm(client)
    assert why and why in client.get("/me/data/").content.decode()
    set_aside.try_now()
    tasks.tend_accounts()
    assert not Export.objects.filter(ended_at=None).exists() and not SetAside.objects.exists()


MAILS = pytest.mark.parametrize(
    ("task", "module", "function", "asked"),
    [
        (tasks.send_reset, resets, "send_links", ("x@example.org",)),
        (tasks.send_sign_up, invitations, "send_link", ("x@example.org",)),
        (tasks.send_invitation, invitations, "send_invitation", ("x@example.org", "https://x/")),
        (tasks.send_notice, mails, "send_notice", ("x@example.org", "alice", "It was changed.")),
    ],
)


def retrying(monkeypatch: pytest.MonkeyPatch, task: Any) -> Any:
    """Return the task, whose retries are raised with the seconds until then."""
    monkeypatch.setattr(task, "retry", lambda countdown: Retry(when=countdown))
    return task


@MAILS
def test_mail_that_could_not_be_sent_is_tried_again(
    db: None,
    monkeypatch: pytest.MonkeyPatch,
    task: Any,
    module: Any,
    function: str,
    asked: tuple[str, ...],
) -> None:
    monkeypatch.setattr(module, function, lambda *_: False)
    with pytest.raises(Retry):
        retrying(monkeypatch, task)(*asked)
    assert not SetAside.objects.exists()


@MAILS
def test_mail_that_raises_is_shown_to_the_operator_and_tried_again(
    db: None,
    monkeypatch: pytest.MonkeyPatch,
    set_asides: Planted,
    task: Any,
    module: Any,
    function: str,
    asked: tuple[str, ...],
) -> None:
    errors = set_asides.expect()

    def fail(*_: str) -> bool:
        raise KeyError("of the program")

    with monkeypatch.context() as broken:
        broken.setattr(module, function, fail)
        with pytest.raises(Retry):
            retrying(broken, task)(*asked)
    row = SetAside.objects.get()
    assert row.key.startswith("send ") and "of the program" in row.traceback and len(errors) == 1
    monkeypatch.setattr(module, function, lambda *_: True)
    task(*asked)
    assert not SetAside.objects.exists()
