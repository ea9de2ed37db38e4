"""Cache busting: static files have a content hash in their name, so browsers keep them for a year.

    {% static 'site/site.css' %} ─ HashedStorage ─> /static/site/site.1f3a5c7e9b2d.css
    that address ─ HashedFinder ─> site/site.css, if that is its content still

A file can be asked for by its plain name too, as by the service worker: then it is kept for a
minute.  Scripts import each other by plain names, which an import map leads to those with hashes.
Nothing is copied anywhere, so nothing can be of an older version: `collectstatic` with the storage
of whitenoise takes 14 seconds of processor time, at each start of a site.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.core.files.storage import Storage
from django.http import HttpRequest
from django.templatetags.static import static
from whitenoise.middleware import WhiteNoiseMiddleware

YEAR = 365 * 24 * 60 * 60
"""Seconds for which a browser keeps a file whose name has its content."""

IMPORTED = ("site/complete.js", "site/events.js", "site/site.js", "site/triage.js")
"""The scripts that others import."""

_HASHED = re.compile(r"(.+)\.([0-9a-f]{12})((?:\.[^./]+)?)")


def hashed_name(name: str, path: str) -> str:
    """Return the name of a static file with the hash of its content, which lies at ``path``."""
    plain = PurePosixPath(name)
    return str(plain.with_suffix(f".{_hash(path, Path(path).stat().st_mtime_ns)}{plain.suffix}"))


@lru_cache(maxsize=4096)
def _hash(path: str, _modified: int) -> str:
    return sha256(Path(path).read_bytes()).hexdigest()[:12]


class HashedStorage(StaticFilesStorage):
    """Gives the addresses of static files, with the hashes of their contents."""

    def url(self, name: str | None) -> str:
        """Return the address; the plain one of a file that is not there."""
        path = finders.find(name) if name else None
        return super().url(hashed_name(name, path) if name and isinstance(path, str) else name)


@cache
def import_map() -> str:
    """Return the import map of all pages: a JSON object."""
    return json.dumps(
        {"imports": {f"{settings.STATIC_URL}{name}": static(name) for name in IMPORTED}}
    )


class HashedFinder(finders.BaseFinder):
    """Finds static files by their names with hashes, where the other finders have them."""

    def check(self, **_kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **_kwargs: Any) -> Any:
        """Return the path of a file of that content; an empty list if there is none."""
        parts = _HASHED.fullmatch(path)
        found = finders.find(parts[1] + parts[3]) if parts else None
        if not isinstance(found, str) or parts is None:
            return []
        if _hash(found, Path(found).stat().st_mtime_ns) != parts[2]:
            return []
        return [found] if find_all else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, Storage]]:
        """Yield all files, each by its name with the hash."""
        for finder in finders.get_finders():
            if not isinstance(finder, HashedFinder):
                for name, storage in finder.list(ignore_patterns):
                    plain: Any = storage
                    yield hashed_name(name, plain.path(name)), _Renamed(plain)


class _Renamed(Storage):
    """A storage that knows its files by their names with hashes."""

    def __init__(self, plain: Any) -> None:
        self.plain, self.prefix = plain, getattr(plain, "prefix", None)

    def path(self, name: str) -> str:
        """Return where the file lies."""
        path: str = self.plain.path(_HASHED.sub(r"\1\3", name))
        return path


class StaticFiles(WhiteNoiseMiddleware):
    """Serves them: under a name with its hash a file never changes.

    Under a hash of another version, as while machines are upgraded one by one, it is the file of
    this version, which is kept for a minute.
    """

    FOREVER = YEAR

    def __call__(self, request: HttpRequest, *_: Any) -> Any:
        find = self.find_file if self.autorefresh else self.files.get
        path = request.path_info
        if path.startswith(settings.STATIC_URL) and find(path) is None:
            request.path_info = _HASHED.sub(r"\1\3", path)
        answer: Any = super().__call__
        return answer(request)

    def immutable_file_test(self, path: str, url: str) -> bool:
        """Tell whether the address of a file has the hash of its content."""
        return _HASHED.fullmatch(url) is not None
