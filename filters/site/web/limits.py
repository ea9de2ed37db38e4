"""Requests that are too large: refused with a sentence, before anything is done with them."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import (
    DisallowedHost,
    RequestDataTooBig,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.views.defaults import bad_request

Page = Callable[[HttpRequest], HttpResponse]

FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")

UPLOADS = {
    "/compose/": 16 * 1024 * 1024,
    "/calendar/": 5 * 1024 * 1024,
    "/contacts/": 9 * 1024 * 1024,
    "/filters/import/": 9 * 1024 * 1024,
}
"""Bytes of a form with files, by its address: for who has a session.  The web server takes as many
(filters.site.launch.web_server)."""

HINT = "Nothing was changed: go back, and send less at once."

NOT_OUR_HOST = (
    "It does not answer to the name in your address: ask whoever runs it for the right one."
)


def limit_forms(page: Page) -> Page:
    """Refuse a form that is too large as a whole: Django counts the bytes of its fields alone."""

    def answer(request: HttpRequest) -> HttpResponse:
        length = str(request.META.get("CONTENT_LENGTH") or "0")
        most = _most_bytes(request)
        is_large = length.isdecimal() and (len(length) > 18 or int(length) > most)
        if request.content_type in FORMS and is_large:
            raise RequestDataTooBig
        return page(request)

    return answer


def _most_bytes(request: HttpRequest) -> int:
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0
    has_session = settings.SESSION_COOKIE_NAME in request.COOKIES
    return max(most, UPLOADS.get(request.path_info, 0) if has_session else 0)


def refuse(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 413 where a form has too much of something, and 400 to what is wrong otherwise."""
    if isinstance(exception, DisallowedHost):
        context = {"title": "This site has another name", "sentence": NOT_OUR_HOST, "hint": ""}
        return render(request, "error.html", context, status=400)
    sentence = _sentence(request, exception)
    if sentence is None:
        return bad_request(request, exception)
    if request.headers.get("HX-Request"):
        notice = format_html('<p class="banner bad" role="alert">{} {}</p>', sentence, HINT)
        return HttpResponse(notice, status=413)
    context = {"title": "That is too much at once", "sentence": sentence, "hint": HINT}
    return render(request, "error.html", context, status=413)


def _sentence(request: HttpRequest, exception: Exception) -> str | None:
    if isinstance(exception, RequestDataTooBig):
        return f"A form may have at most {_most_bytes(request) >> 20} MiB."
    if isinstance(exception, TooManyFieldsSent):
        return f"A form may have at most {settings.DATA_UPLOAD_MAX_NUMBER_FIELDS:,} fields."
    if isinstance(exception, TooManyFilesSent):
        return f"A form may have at most {settings.DATA_UPLOAD_MAX_NUMBER_FILES} files."
    return None
