"""What a page answers that failed where no middleware sees it: a session that cannot be stored."""

from __future__ import annotations

import sys

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views import defaults

from tapestry.core.files.disk_space import is_disk_full


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 507 if the disk is full, else 500; neither needs the database."""
    if is_disk_full(sys.exc_info()[1]):
        return HttpResponse(render_to_string("507.html"), status=507)
    return defaults.server_error(request)
