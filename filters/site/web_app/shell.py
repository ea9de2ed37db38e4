"""The offline shell (app shell): all that a service worker may keep, and that worker.

It is a page without anybody's content, and the static files of that page by their hashed names.
So a change of any of them is another shell, under another name, and the one before is deleted.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse

import filters

FILES = ("site/site.css", "site/offline.js", "site/icon.svg")
"""The static files of the offline page."""


def offline_page() -> str:
    """Return the page; it is rendered without a request, and so without a reader."""
    return render_to_string("site/offline.html")


def worker_script() -> str:
    """Return the script of the service worker, with the names of what it keeps."""
    (package,) = filters.__path__
    script = (Path(package) / "site" / "static" / "site" / "sw.js").read_text()
    page, files = reverse("offline"), [static(name) for name in FILES]
    version = sha256(json.dumps([offline_page(), page, files]).encode()).hexdigest()[:12]
    shell = {"name": f"shell-{version}", "page": page, "files": files}
    return f"const SHELL = {json.dumps(shell)};\n{script}"
