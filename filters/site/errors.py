"""The pages for what went wrong: plain and kind, and never a traceback."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400."""
    return _page(request, 400, "That request made no sense", "Go back and try again.")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 403."""
    return _page(request, 403, "That is not yours to do", "Sign in as somebody who may.")


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer 403 where a form was sent from another page than ours, or from a stale one."""
    return _page(
        request, 403, "This page has gone stale", "Load it again, and send the form once more."
    )


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404."""
    return _page(
        request,
        404,
        "There is nothing here",
        "The address may be mistyped, or what was here is not for you to see.",
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500 without touching the session or the database, which may be what failed."""
    return HttpResponse(_PLAIN, status=500)


def _page(request: HttpRequest, status: int, title: str, sentence: str) -> HttpResponse:
    return render(request, "error.html", {"title": title, "sentence": sentence}, status=status)


_PLAIN = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Tapestry: something broke</title>
<link rel="stylesheet" href="/static/filters/site.css">
<body class="bare"><main class="notice"><h1>Something broke</h1>
<p>It has been written to the log. Nothing of yours is lost; <a href="/">go to the inbox</a>.</p>
</main></body></html>
"""
