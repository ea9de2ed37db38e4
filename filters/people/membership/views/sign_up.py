"""The pages on which somebody makes an account, where the operator lets them."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters

from filters.authoring import ready_made
from filters.people import tasks
from filters.people.membership.forms import EmailForm, SignUpForm
from filters.people.membership.invitations import invitation_of, make_account
from filters.people.membership.requests_limit import link_refusal, refusal, refused_page
from filters.people.models import User
from filters.people.requests import form_page, public_form
from filters.site.settings.email_url import is_kept_only
from filters.site.settings.sign_up import OFF, ON, sign_up_mode
from tapestry.core.errors import TapestryError
from tapestry.core.log import event


@public_form
def sign_up(request: HttpRequest) -> HttpResponse:
    """Ask for the address of somebody who wants an account; the link to it is sent there."""
    if sign_up_mode() == OFF:
        raise Http404("Nobody makes an account here by themselves.")
    if request.user.is_authenticated:
        return redirect("inbox")
    is_open = sign_up_mode() == ON and not is_kept_only()
    form = EmailForm(request.POST if request.method == "POST" and is_open else None)
    context = {"mode": sign_up_mode(), "is_kept_only": is_kept_only()}
    if form.is_valid():
        if refused := refusal(request, "sign-up"):
            return refused_page(request, refused)
        tasks.send_sign_up.delay(form.cleaned_data["email"])
        context |= {"sent": True, "email": form.cleaned_data["email"]}
    return form_page(request, "people/sign_up.html", form, **context)


def _give_filters(made: User) -> None:
    """Give somebody the filters of the first day; an account without them is an account."""
    try:
        for filter_ in ready_made.missing(made):
            ready_made.add(made, filter_)
    except TapestryError as error:
        event("no_first_filters", reason=str(error))


@public_form
@sensitive_post_parameters()
def make(request: HttpRequest, token: str) -> HttpResponse:
    """Let who has the link choose a name and a password."""
    if sign_up_mode() == OFF:
        raise Http404("Nobody makes an account here by themselves.")
    refused, give_back = link_refusal(request)
    if refused:
        return refused_page(request, refused)
    invitation = invitation_of(token)
    if invitation is None or (invitation.is_asked and sign_up_mode() != ON):
        return render(request, "people/expired.html", status=404)
    give_back()
    new = User(email=invitation.email)
    form = SignUpForm(new, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            made = make_account(invitation, new.username, form.cleaned_data["password"])
        except (ValidationError, IntegrityError):  # somebody was faster
            form.add_error("name", "This name is taken. Please choose another.")
        else:
            if made is None:
                return render(request, "people/expired.html", status=404)
            _give_filters(made)
            messages.success(request, f"Welcome, {new.username}. Please sign in.")
            return redirect("sign-in")
    return form_page(request, "people/make_account.html", form, email=invitation.email)
