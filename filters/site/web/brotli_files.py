"""Static files by Brotli, for browsers that can read it: a tenth to a fifth shorter than by gzip.

A file is compressed as well as can be, when it is first asked for, and kept in memory: it is the
same for everybody.  Pages are made anew for each reader, and compressed by gzip.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import brotli
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers

from filters.site.web.compression import TEXT


def by_brotli(request: HttpRequest, response: HttpResponseBase, path: str) -> HttpResponseBase:
    """Return the response that sends a file, by Brotli if it is a whole text and is read so."""
    kind = response.headers.get("Content-Type", "")
    if response.status_code != 200 or not kind.startswith(TEXT) or not accepts_brotli(request):
        return response
    content = _compressed(path, Path(path).stat().st_mtime_ns)
    headers = {name: value for name, value in response.items() if name != "Content-Length"}
    headers["Content-Encoding"] = "br"
    if "ETag" in headers:  # it is that of the file itself: the bytes are others
        headers["ETag"] = f"W/{headers['ETag'].removeprefix('W/')}"
    response.close()
    shorter = HttpResponse(content, headers=headers)
    shorter.headers["Content-Length"] = str(len(content))
    patch_vary_headers(shorter, ("Accept-Encoding",))
    return shorter


def accepts_brotli(request: HttpRequest) -> bool:
    """Tell whether a browser can read Brotli.

    >>> request = HttpRequest()
    >>> request.META["HTTP_ACCEPT_ENCODING"] = "gzip, br;q=0.5"
    >>> accepts_brotli(request)
    True
    """
    for coding in request.META.get("HTTP_ACCEPT_ENCODING", "").lower().split(","):
        name, _, weight = coding.replace(" ", "").partition(";q=")
        if name == "br":
            return weight.strip("0.") != "" or not weight
    return False


@lru_cache(maxsize=256)
def _compressed(path: str, _modified: int) -> bytes:
    content: bytes = brotli.compress(Path(path).read_bytes(), mode=brotli.MODE_TEXT)
    return content
