"""Tasks of the workers about accounts: mail to their people, exports, deletions, upkeep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from celery import Task

from filters.api import idempotency
from filters.jmap import blobs
from filters.people.membership import invitations, mails, resets
from filters.people.membership.export import exports
from filters.people.membership.removal import removals
from filters.people.sessions.record import forget_ended
from filters.runs.models import SetAside
from filters.site.work import set_aside
from filters.site.work.parts import services
from tapestry.celery import app
from tapestry.core.files.site_lock import site_lock

AGAIN, LATEST = 60, 900
"""Seconds after which mail that could not be sent is tried again: twice as many each time."""

MAIL: dict[str, Any] = {
    "bind": True,
    "ignore_result": True,
    "needs_room": False,
    "max_retries": 7,
}
"""Options of the tasks that send mail: they try for an hour."""


def _send(task: Task, kind: str, send: Callable[[], bool]) -> None:
    """Send mail of a kind; what raises an error is shown to the operator, and tried again."""
    sent = False
    with set_aside.of(SetAside.Kind.STEP).guard(f"send {kind}"):
        sent = send()
    if not sent:
        raise task.retry(countdown=min(AGAIN << task.request.retries, LATEST))


@app.task(name="filters.send_reset", **MAIL)
def send_reset(self: Task, email: str) -> None:
    """Send a link for a new password to an address, if an account has it."""
    _send(self, "reset", lambda: resets.send_links(email))


@app.task(name="filters.send_sign_up", **MAIL)
def send_sign_up(self: Task, email: str) -> None:
    """Send a link to make an account to an address."""
    _send(self, "sign-up", lambda: invitations.send_link(email))


@app.task(name="filters.send_invitation", **MAIL)
def send_invitation(self: Task, email: str, url: str) -> None:
    """Send the link of an invitation that an operator made."""
    _send(self, "invitation", lambda: invitations.send_invitation(email, url))


@app.task(name="filters.send_notice", **MAIL)
def send_notice(self: Task, email: str, person: str, what: str) -> None:
    """Tell a person what was changed in their account."""
    _send(self, "notice", lambda: mails.send_notice(email, person, what))


@app.task(name="filters.tend_accounts", ignore_result=True, needs_room=False)
def tend_accounts() -> None:
    """Make exports, delete accounts, and delete what has expired; one process does so at a time."""
    with site_lock(services.data() / "run" / "accounts.lock") as acquired:
        if acquired:
            removals.finish_waiting()
            set_aside.each(
                SetAside.Kind.STEP,
                {
                    "forget exports": exports.forget_old,  # they leave the disk to others
                    "forget invitations": invitations.forget_old,
                    "forget deleted accounts": removals.forget_old,
                    "forget sessions": forget_ended,
                    "forget uploads": blobs.forget_old,
                    "forget answers": idempotency.forget_old,
                },
            )
            exports.make_waiting()
