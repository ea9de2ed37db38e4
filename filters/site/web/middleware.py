"""What holds for every page: where one signs in, and no tracebacks."""

from __future__ import annotations

import logging
from collections.abc import Callable
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.db import DataError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.http import HttpResponseClientRedirect
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from filters.people.requests import local_path
from tapestry.core.errors import TapestryError
from tapestry.core.files.disk_space import DiskFullError, is_disk_full
from tapestry.core.log import line

log = logging.getLogger(__name__)

Page = Callable[[HttpRequest], HttpResponse]

RETRY = "Try again in a moment."
GO_BACK = "Nothing was changed: go back and try again."


def sign_in_as_a_page(page: Page) -> Page:
    """Send the whole page of somebody signed out to the sign-in page, which leads back to it.

    That happens where somebody has signed out elsewhere, and a page of theirs still asks by htmx,
    which would draw the sign-in page in a pane.  A form of theirs may fail the CSRF check (403)
    before anybody asks who sends it.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        response = page(request)
        if not request.headers.get("HX-Request") or not _asks_to_sign_in(request, response):
            return response
        address = urlencode({REDIRECT_FIELD_NAME: _page_of(request)})
        return HttpResponseClientRedirect(f"{resolve_url(settings.LOGIN_URL)}?{address}")

    return answer


def _asks_to_sign_in(request: HttpRequest, response: HttpResponse) -> bool:
    if response.status_code == 302:
        return urlsplit(response.headers["Location"]).path == resolve_url(settings.LOGIN_URL)
    user = getattr(request, "user", None)
    return response.status_code == 403 and user is not None and not user.is_authenticated


def _page_of(request: HttpRequest) -> str:
    """Return the path and query of the page that asks, or the inbox if it is none of this site."""
    url, here = request.headers.get("HX-Current-URL", ""), {request.get_host()}
    shown = urlsplit(url) if url_has_allowed_host_and_scheme(url, here) else urlsplit("")
    back = shown.path + (f"?{shown.query}" if shown.query else "")
    return local_path(back, settings.LOGIN_REDIRECT_URL)


def words_of(error: Exception, path: str) -> tuple[str, str, int] | None:
    """Return what is told of an error, what to do, and the status; None if it has no words.

    ``path`` is that of the request, for the log.
    """
    if isinstance(error, BrokerError | RedisError):
        return "The queue (Redis) cannot be reached.", RETRY, 503
    if is_disk_full(error):
        full = DiskFullError()
        return full.message, full.hint or "", 507
    if isinstance(error, DataError) and _sqlstate(error) is None:
        # PostgreSQL stores none: its driver refuses them itself.
        return "No text has the character NUL.", "Leave it out.", 400
    if _is_too_large(error):
        return "A number is too large for anything here.", GO_BACK, 400
    if isinstance(error, FileNotFoundError):  # merged, or forgotten
        log.warning("%s", line("file gone", path=path), exc_info=error)
        return "A file was deleted while it was read.", RETRY, 503
    if isinstance(error, TapestryError):
        return error.message, error.hint or "", 503
    return None


class ErrorPages:
    """Answer with a clear sentence where a part of the product cannot be reached, or a file was
    deleted while it was read (503), or the disk is full (507, RFC 4918).
    """

    def __init__(self, page: Page) -> None:
        self.page = page

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.page(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Turn an error with words for people into a page; leave any other to Django."""
        words = words_of(error, request.path)
        if words is None:
            return None
        sentence, hint, status = words
        if request.headers.get("HX-Request"):
            notice = format_html('<p class="banner bad" role="alert">{} {}</p>', sentence, hint)
            # All of it is shown, whatever part of its answer the page had asked for.
            return HttpResponse(notice, status=status, headers={"HX-Reselect": "unset"})
        title = "Not just now" if status >= 500 else "That cannot be read"
        context = {"title": title, "sentence": sentence, "hint": hint}
        return render(request, "error.html", context, status=status)


def _sqlstate(error: DataError) -> str | None:
    """Return the code of PostgreSQL's error, None if its driver raised it; "" of SQLite's."""
    code: str | None = getattr(error.__cause__, "sqlstate", "")
    return code


def _is_too_large(error: Exception) -> bool:
    """Tell whether the database was asked for a number of more than 64 bits: none of its keys."""
    if isinstance(error, DataError):
        return _sqlstate(error) == "22003"  # out of range
    return isinstance(error, OverflowError) and "SQLite INTEGER" in str(error)
