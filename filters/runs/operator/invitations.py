"""The page on which the staff invite people, and take invitations back."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from filters.people import tasks
from filters.people.emails import accounts_of
from filters.people.membership import invitations
from filters.people.membership.forms import EmailForm
from filters.people.membership.keys import key_of
from filters.people.requests import form_page
from filters.runs.operator.access import staff_form
from filters.site.settings.email_url import is_kept_only
from filters.site.settings.sign_up import OFF, sign_up_mode
from filters.site.work.crypto import opaque_keys
from filters.site.work.queues.queue import send

MOST_SHOWN = 200
"""Invitations on the page; the newest."""


@staff_form
def invite(request: HttpRequest) -> HttpResponse:
    """Show who is invited; make the link of another, show it this once, and send it."""
    if request.method == "POST" and (key := request.POST.get("withdraw")):
        if invitations.withdraw(key_of(key)):
            messages.success(request, "The link of that invitation no longer works.")
        return redirect("invitations")
    is_off = sign_up_mode() == OFF
    form = EmailForm(request.POST if request.method == "POST" and not is_off else None)
    context: dict[str, Any] = {}
    if form.is_valid():
        email = form.cleaned_data["email"]
        if users := accounts_of(email):
            names = ", ".join(user.get_username() for user in users)
            form.add_error("email", f"There is an account with this address: {names}.")
        else:
            context = {"email": email, "url": invitations.new_link(email)}
            context["is_sent"] = not is_kept_only() and send(
                tasks.send_invitation,
                (email, context["url"]),
                otherwise="an invitation is not sent",
            )
    invited = invitations.open_invitations()[:MOST_SHOWN]
    context |= {
        "is_off": is_off,
        "invited": [(row, opaque_keys.encrypt(row.pk)) for row in invited],
        "days": invitations.DAYS,
    }
    return form_page(request, "runs/invitations.html", form, **context)
