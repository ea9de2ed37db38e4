"""Requests that are too large: refused with a sentence, before anything is done with them."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.views.defaults import bad_request

Page = Callable[[HttpRequest], HttpResponse]

FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")

HINT = "Nothing was changed: go back, and send less at once."


def limit_forms(page: Page) -> Page:
    """Refuse a form that is too large as a whole: Django counts the bytes of its fields alone."""

    def answer(request: HttpRequest) -> HttpResponse:
        length = str(request.META.get("CONTENT_LENGTH") or "0")
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0
        if request.content_type in FORMS and length.isdecimal() and int(length) > most:
            raise RequestDataTooBig
        return page(request)

    return answer


def refuse(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 413 where a form has too much of something, and 400 to what is wrong otherwise."""
    sentence = _sentence(exception)
    if sentence is None:
        return bad_request(request, exception)
    if request.headers.get("HX-Request"):
        notice = format_html('<p class="banner bad" role="alert">{} {}</p>', sentence, HINT)
        return HttpResponse(notice, status=413)
    context = {"title": "That is too much at once", "sentence": sentence, "hint": HINT}
    return render(request, "error.html", context, status=413)


def _sentence(exception: Exception) -> str | None:
    if isinstance(exception, RequestDataTooBig):
        return f"A form may have at most {(settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0) >> 20} MiB."
    if isinstance(exception, TooManyFieldsSent):
        return f"A form may have at most {settings.DATA_UPLOAD_MAX_NUMBER_FIELDS:,} fields."
    if isinstance(exception, TooManyFilesSent):
        return f"A form may have at most {settings.DATA_UPLOAD_MAX_NUMBER_FILES} files."
    return None
