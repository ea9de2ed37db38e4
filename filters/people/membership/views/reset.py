"""The pages of a lost password: known and unknown addresses are answered alike, and as fast."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters

from filters.people import tasks
from filters.people.membership.forms import EmailForm, NewPasswordForm
from filters.people.membership.notices import tell
from filters.people.membership.requests_limit import link_refusal, refusal, refused_page
from filters.people.membership.resets import set_password, user_of
from filters.people.requests import form_page, public_form
from filters.site.settings.email_url import is_kept_only


@public_form
def forgot(request: HttpRequest) -> HttpResponse:
    """Ask for the address of somebody who has lost their password; a task does the rest."""
    form = EmailForm(request.POST if request.method == "POST" and not is_kept_only() else None)
    if not form.is_valid():
        return form_page(request, "people/forgot.html", form, is_kept_only=is_kept_only())
    if refused := refusal(request, "reset"):
        return refused_page(request, refused)
    tasks.send_reset.delay(form.cleaned_data["email"])
    context = {"sent": True, "email": form.cleaned_data["email"]}
    return render(request, "people/forgot.html", context)


@public_form
@sensitive_post_parameters()
def reset_password(request: HttpRequest, key: str, token: str) -> HttpResponse:
    """Let who has the link choose a new password."""
    refused, give_back = link_refusal(request)
    if refused:
        return refused_page(request, refused)
    user = user_of(key, token)
    if user is None:
        return render(request, "people/expired.html", status=404)
    give_back()
    form = NewPasswordForm(user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        if not set_password(user, token, form.cleaned_data["password"]):
            return render(request, "people/expired.html", status=404)
        tell(user, "A new password was set, with a link that was sent to this address.")
        messages.success(request, "Your password is changed. Please sign in with the new one.")
        return redirect("sign-in")
    return form_page(request, "people/reset.html", form, person=user)
