"""Who sees the operator's pages: the staff.  For everybody else they do not exist."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.common import no_append_slash
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_safe

View = Callable[..., HttpResponse]


def staff_only(view: View) -> View:
    """Show a page to the staff alone."""
    return _hidden_from_others(require_safe(view))


def staff_form(view: View) -> View:
    """Show a page to the staff alone, and take what they fill in."""
    return _hidden_from_others(csrf_protect(require_http_methods(["GET", "HEAD", "POST"])(view)))


def _hidden_from_others(view: View) -> View:
    """Answer everybody but the staff as an address that does not exist, whatever the method.

    So nobody is sent to sign in, asked for a token of a form, or to the address with a slash.
    """

    def answer(request: HttpRequest, **kwargs: object) -> HttpResponse:
        if not (request.user.is_active and request.user.is_staff):
            raise Http404
        return view(request, **kwargs)

    return no_append_slash(csrf_exempt(login_not_required(answer)))
