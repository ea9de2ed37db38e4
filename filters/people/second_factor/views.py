"""The page that asks for the second factor, and the one that asks who one is once more."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import admin
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, resolve_url
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from filters.people.factors import has_second_factor
from filters.people.requests import (
    PersonRequest,
    form_methods,
    form_page,
    local_path,
    public_form,
)
from filters.people.second_factor.forms import ConfirmForm, FactorForm
from filters.people.second_factor.stage import begin, code_page, complete, pending_user
from filters.people.signing_in.forms import SignInForm
from filters.site.settings.sign_up import sign_up_mode
from tapestry.core.clock import MINUTE, wall_clock

Answer = TypeVar("Answer", bound=HttpResponseBase)

CONFIRMED_AT = "confirmed_at"
"""Where a session keeps the instant at which its person last confirmed that it is they."""

PATIENCE = 10 * MINUTE
"""How long that counts."""


class SignIn(LoginView):
    """The page that asks for a name and a password; the second factor is asked on the next."""

    template_name = "people/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True
    extra_context = {"sign_up": sign_up_mode}

    def get_redirect_url(self, request: HttpRequest | None = None) -> str:
        """Return the path of this site that the request says leads on; empty if it says none."""
        given = super().get_redirect_url()
        return local_path(given, settings.LOGIN_REDIRECT_URL) if given else ""

    def get(self, request: HttpRequest, *args: Any, **named: Any) -> HttpResponse:
        """Show the page; who has given the password already is asked for the second factor."""
        if pending_user(request) is not None:
            return redirect(code_page(self.get_redirect_url()))
        return super().get(request, *args, **named)

    def form_valid(self, form: Any) -> HttpResponse:
        """Sign in whose password was right, unless a second factor is to be asked for first."""
        user = form.get_user()
        if not has_second_factor(user):
            return super().form_valid(form)
        begin(self.request, user)
        return redirect(code_page(self.get_redirect_url()))


@login_not_required
@never_cache
@require_safe
def admin_sign_in(request: HttpRequest) -> HttpResponse:
    """Lead to the sign-in page, and refuse who is signed in and no administrator.

    The page of Django's administration would sign in without the second factor.
    """
    if request.user.is_authenticated and not admin.site.has_permission(request):
        raise PermissionDenied
    back = _back(request, reverse("admin:index"))
    if request.user.is_authenticated:
        return redirect(back)
    return redirect(f"{resolve_url(settings.LOGIN_URL)}?{urlencode({REDIRECT_FIELD_NAME: back})}")


@public_form
@sensitive_post_parameters()
def sign_in_code(request: HttpRequest) -> HttpResponse:
    """Ask who has given the password for the second factor."""
    user, back = pending_user(request), _back(request, settings.LOGIN_REDIRECT_URL)
    if user is None:
        query = urlencode({REDIRECT_FIELD_NAME: back})
        return redirect(f"{resolve_url(settings.LOGIN_URL)}?{query}")
    form = FactorForm(request, user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        complete(request, user)
        return redirect(back)
    return form_page(request, "people/code.html", form, next=back, person=user)


@sensitive_post_parameters()
@form_methods
def confirm(request: PersonRequest) -> HttpResponse:
    """Ask for the password and the second factor once more, before what matters."""
    back = _back(request, "security")
    form = ConfirmForm(request, request.user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        request.session[CONFIRMED_AT] = wall_clock()
        return redirect(back)
    return form_page(request, "people/confirm.html", form, next=back)


def confirmed(page: Callable[..., Answer]) -> Callable[..., Answer | HttpResponse]:
    """Let a page be reached only by who has confirmed lately that it is they (sudo mode)."""

    @wraps(page)
    def answer(request: PersonRequest, *args: Any, **named: Any) -> Answer | HttpResponse:
        age = wall_clock() - request.session.get(CONFIRMED_AT, 0)
        if 0 <= age < PATIENCE:
            return page(request, *args, **named)
        back = request.path if request.method in ("GET", "HEAD") else reverse("security")
        return redirect(f"{reverse('confirm-person')}?{urlencode({REDIRECT_FIELD_NAME: back})}")

    return answer


def _back(request: HttpRequest, otherwise: str) -> str:
    """Return where a page leads back to: what its address or form says, if that is of this site."""
    back = request.POST.get(REDIRECT_FIELD_NAME) or request.GET.get(REDIRECT_FIELD_NAME, "")
    return local_path(back, otherwise)
