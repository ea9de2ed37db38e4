"""The task about accounts: each kind of work, by one process; mail that fails comes again."""

from __future__ import annotations

from typing import Any

import pytest
from celery.exceptions import Retry
from django.contrib.auth.models import User

from filters.membership import invitations, mails, resets, tasks
from filters.membership.export import exports
from filters.membership.removal import removals
from filters.models import Export, Invitation, Removal
from filters.runtime import services
from tapestry.core.file_lock import file_lock
from tapestry.tables.delta.log import Tables


def test_it_makes_exports_and_deletes_accounts(mail: Tables, alice: User, bob: User) -> None:
    exports.ask(bob)
    removals.ask(alice)
    Invitation.objects.create(email="x@x.org", digest="d", created_at=1, expires_at=2)
    tasks.tend_accounts()
    assert Export.objects.get().error == "" and Removal.objects.get().done_at
    assert not Invitation.objects.exists()


def test_not_while_another_process_does(mail: Tables, bob: User) -> None:
    exports.ask(bob)
    with file_lock(services.data() / "run" / "accounts.lock"):
        tasks.tend_accounts()
    assert Export.objects.get().ended_at is None


def test_one_that_fails_holds_up_no_other(
    mail: Tables, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for user in (alice, bob):
        removals.ask(user)
    finish = removals._finish

    def fail_for_alice(removal: Removal) -> None:
        if removal.name == "alice":
            raise RuntimeError
        finish(removal)

    monkeypatch.setattr(removals, "_finish", fail_for_alice)
    removals.finish_waiting()
    assert Removal.objects.get(done_at=None).name == "alice"


@pytest.mark.parametrize(
    ("task", "module", "function", "asked"),
    [
        (tasks.send_reset, resets, "send_links", ("x@example.org",)),
        (tasks.send_sign_up, invitations, "send_link", ("x@example.org",)),
        (tasks.send_invitation, invitations, "send_invitation", ("x@example.org", "https://x/")),
        (tasks.send_notice, mails, "send_notice", ("x@example.org", "alice", "It was changed.")),
    ],
)
def test_mail_that_could_not_be_sent_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, task: Any, module: Any, function: str, asked: tuple[str, ...]
) -> None:
    monkeypatch.setattr(module, function, lambda *_: False)
    monkeypatch.setattr(task, "retry", lambda countdown: Retry(when=countdown))
    with pytest.raises(Retry):
        task(*asked)
