"""The page of one's own address: mail of the account goes there once it is confirmed."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from filters.delivery.mail.addresses import address_of_person, send_link
from filters.delivery.models import Address
from filters.people.emails import awaits_link, change
from filters.people.membership.forms import EmailForm
from filters.people.membership.notices import known_address, tell
from filters.people.requests import PersonRequest, form_methods, form_page
from filters.people.second_factor.views import confirmed
from filters.site.settings.email_url import is_kept_only
from tapestry.core.errors import TapestryError


@form_methods
@confirmed
def my_email(request: PersonRequest) -> HttpResponse:
    """Change the address of one's account, and have a link sent there."""
    data = request.POST if request.method == "POST" else None
    form = EmailForm(data, initial={"email": request.user.email})
    form.fields["email"].required = False
    if form.is_valid():
        former = known_address(request.user)
        address = change(request.user, form.cleaned_data["email"])
        if former and former != request.user.email:
            tell(request.user, "The e-mail address of your account was changed.", former)
        messages.success(request, "Saved.")
        if address is not None and awaits_link(request.user):
            _send(request, address)
        return redirect("me")
    context = {"unconfirmed": awaits_link(request.user), "is_kept_only": is_kept_only()}
    return form_page(request, "people/email.html", form, **context)


@require_POST
def send_email_link(request: PersonRequest) -> HttpResponse:
    """Send the link once more that confirms one's address."""
    if awaits_link(request.user):
        _send(request, address_of_person(request.user, request.user.email))
    return redirect("me")


def _send(request: PersonRequest, address: Address) -> None:
    try:
        send_link(address)
    except TapestryError as error:
        messages.error(request, error.sentences)
    else:
        messages.success(
            request, f"A link is on its way to {address.email}. Open it while you are signed in."
        )
