"""Addresses of the API, and of the pages of tokens and connections."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import path

from filters.api import usage, views
from filters.api.api import api
from filters.api.idempotency import once
from filters.api.models import AccessToken
from filters.api.problems import no_such_method

Call = Callable[..., HttpResponse]


def open_call(call: Call) -> Call:
    """Return a call that asks for its token itself, is made once for each key it has, and recorded.

    HEAD is answered as GET (RFC 9110, 9.3.2).
    """

    @wraps(call)
    def answer(request: HttpRequest, **named: Any) -> HttpResponse:
        method = request.method
        request.method = "GET" if method == "HEAD" else method
        try:
            response = once(call, request, **named)
            return response if response.status_code != 405 else no_such_method(response)
        finally:
            request.method = method
            token = getattr(request, "auth", None)
            if isinstance(token, AccessToken):
                usage.record(token, request, named)

    return login_not_required(answer)


calls, _, namespace = api.urls
for pattern in calls:
    if pattern.callback is not None:
        pattern.callback = open_call(pattern.callback)

urlpatterns = [
    path("me/connections/", views.connections, name="connections"),
    path("me/tokens/", views.tokens, name="tokens"),
    path("me/tokens/<str:key>/uses/", views.uses, name="token-uses"),
    path("me/tokens/<str:key>/delete/", views.delete, name="delete-token"),
    path("api/", views.calls, name="api-reference"),
    path("api/v1/openapi.json", views.description, name="api-description"),
    path("api/v1/", (calls, "ninja", namespace)),
    path("api/<path:name>", views.no_call),
]
