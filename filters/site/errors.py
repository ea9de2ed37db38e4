"""The pages for what went wrong: plain and kind, and never a traceback."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def _page(status: int, title: str, sentence: str) -> Callable[..., HttpResponse]:
    def answer(request: HttpRequest, *_args: object, **_reason: object) -> HttpResponse:
        context = {"title": title, "sentence": sentence}
        return render(request, "error.html", context, status=status)

    return answer


bad_request = _page(400, "That request made no sense", "Go back and try again.")
forbidden = _page(403, "That is not yours to do", "Sign in as somebody who may.")
csrf_failed = _page(403, "This page has gone stale", "Load it again, and send the form once more.")
not_found = _page(
    404,
    "There is nothing here",
    "The address may be mistyped, or what was here is not for you to see.",
)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500 without touching the session or the database, which may be what failed."""
    return HttpResponse(_PLAIN, status=500)


_PLAIN = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Tapestry: something broke</title>
<link rel="stylesheet" href="/static/filters/site.css">
<body class="bare"><main class="notice"><h1>Something broke</h1>
<p>It has been written to the log. Nothing of yours is lost; <a href="/">go to the inbox</a>.</p>
</main></body></html>
"""
