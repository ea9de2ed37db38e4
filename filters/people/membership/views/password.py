"""The page on which a person changes their own password."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters

from filters.people.membership.ending import end_access
from filters.people.membership.notices import tell
from filters.people.membership.passwords import PasswordForm
from filters.people.requests import PersonRequest, form_methods, form_page
from filters.people.signing_in.this_browser import this_browser


@sensitive_post_parameters()
@form_methods
def my_password(request: PersonRequest) -> HttpResponse:
    """Change one's own password: tokens and other sessions end, this one stays."""
    form = PasswordForm(request, request.POST if request.method == "POST" else None)
    if form.is_valid():
        with transaction.atomic():
            form.save()
            update_session_auth_hash(request, form.user)
            key, browser = request.session.session_key, this_browser(request)
            end_access(request.user, but=key, browser=browser)
        tell(request.user, "The password was changed.")
        messages.success(request, "Your password is changed. You are signed out everywhere else.")
        return redirect("me")
    return form_page(request, "people/password.html", form)
