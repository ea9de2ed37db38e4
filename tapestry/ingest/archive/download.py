"""An archive on a web server: an mbox of a list, of a thread, or of what a search there finds.

A public-inbox gives all it has (``all.mbox.gz``), a thread (``MSGID/t.mbox.gz``), and what a
search finds (``?q=…&x=m``), which it wants asked by POST.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import urllib3

from tapestry.core.errors import TapestryError

PATIENCE = urllib3.Timeout(connect=30.0, read=120.0)

_WEB = re.compile(r"https?://", re.IGNORECASE)


@contextmanager
def downloaded(what: str, root: Path) -> Iterator[str]:
    """Yield what is named, or where it lies for the length of the block if it is a web address.

    Its place under ``root`` is the same each time: one that has grown is read from where it ended.
    Raises TapestryError if the server does not give it.
    """
    if not _WEB.match(what):
        yield what
        return
    place = root / "downloads" / blake2b(what.encode(), digest_size=16).hexdigest()
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        yield str(_download(what, place))
    finally:
        shutil.rmtree(place)


def _download(url: str, place: Path) -> Path:
    parts = urlsplit(url)
    named = [part for part in unquote(parts.path).split("/") if part]
    file = place / (named[-1] if named else parts.netloc)
    method = "POST" if "m" in parse_qs(parts.query).get("x", ()) else "GET"
    try:
        answer = urllib3.request(method, url, timeout=PATIENCE, preload_content=False)
        with answer, file.open("wb") as out:
            if answer.status != 200:
                raise TapestryError(
                    f"{url} is answered with status {answer.status}.", hint="Look at the address."
                )
            shutil.copyfileobj(answer, out)
    except urllib3.exceptions.HTTPError as error:
        reason = str(getattr(error, "reason", None) or error)
        raise TapestryError(
            f"{url} cannot be fetched: {reason}.", hint="Try again, or look at the address."
        ) from error
    return file
