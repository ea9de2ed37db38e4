"""The pages of one's own account: what a person says of themselves, and their password."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from filters.accounts.forms import ProfileForm
from filters.accounts.passwords import PasswordForm
from filters.accounts.requests import PersonRequest
from filters.models import Profile


@require_http_methods(["GET", "HEAD", "POST"])
def profile(request: PersonRequest) -> HttpResponse:
    stored, _ = Profile.objects.get_or_create(user=request.user)
    data = request.POST if request.method == "POST" else None
    form = ProfileForm(data, initial=ProfileForm.initial_of(stored))
    if form.is_valid():
        form.store(stored)
        messages.success(request, "Saved.")
        return redirect("me")
    status = 400 if form.errors else 200
    return render(request, "filters/accounts/me.html", {"form": form}, status=status)


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def password(request: PersonRequest) -> HttpResponse:
    """Change one's own password: all other sessions end, this one stays."""
    form = PasswordForm(request, request.POST if request.method == "POST" else None)
    if form.is_valid():
        form.save()
        update_session_auth_hash(request, form.user)
        messages.success(request, "Your password is changed. You are signed out everywhere else.")
        return redirect("me")
    status = 400 if form.errors else 200
    return render(request, "filters/accounts/password.html", {"form": form}, status=status)
