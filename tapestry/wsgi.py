"""The site for a WSGI server: ``tapestry.wsgi:application``."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tapestry.settings")
application = get_wsgi_application()

# Only now are the settings there, on which it depends.
from filters.site.web.wsgi_request import Request  # noqa: E402

application.request_class = Request
