"""The HTML sanitiser: HTML of a message as a document for a frame.  Nothing in it runs.

Nor is anything loaded unasked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

import nh3

from filters.reading.rendering.balanced import TAGS, balanced
from filters.reading.rendering.styles import safe_style

LONGEST_PICTURE = 3 * 1024 * 1024
"""Characters of a picture that HTML has in itself."""

_PLACED = {"align", "valign", "bgcolor", "width", "height"}
ATTRIBUTES: dict[str, set[str]] = {
    "*": {"style", "dir", "lang", "title"},
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "table": {*_PLACED, "border", "cellpadding", "cellspacing"},
    "td": {*_PLACED, "colspan", "rowspan", "nowrap"},
    "th": {*_PLACED, "colspan", "rowspan", "nowrap"},
    "tr": {"align", "valign", "bgcolor"},
    "col": {"span", "width"},
    "font": {"color", "face", "size"},
    "ol": {"start", "type"},
    **{tag: {"align"} for tag in ("p", "div", "h1", "h2", "h3", "h4", "h5", "h6")},
}
_WORDS = re.compile(r"[\w\s#%.,+-]{0,200}")
_FREE = {"title", "alt"}
_DATA = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+")
_REMOTE = re.compile(r"<img\b[^<>]{0,4000}?\bsrc\s*=\s*[\"']?\s*(?:https?:)?//", re.IGNORECASE)

STYLE = (
    "html{background:#fff;color:#1d1d1b;color-scheme:light}"
    "body{margin:12px;font:15px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}"
    "img{max-width:100%;height:auto}table{max-width:100%}pre{white-space:pre-wrap}"
    "blockquote{margin:0 0 0 .5em;padding-left:.8em;border-left:2px solid #bbb}a{color:#2b5a8a}"
)


def policy(*, has_remote: bool = False) -> str:
    """Return the content security policy of a frame: styles, its own pictures, and no more.

    The page may measure it, as it is of the same origin; no script runs in it.
    ``has_remote`` lets pictures of other sites be loaded, over https.
    """
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:{' https:' * has_remote}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; "
        "sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox"
    )


def has_remote_pictures(html: str) -> bool:
    """Tell whether HTML has pictures of other sites, which are not loaded unasked."""
    return _REMOTE.search(html) is not None


def sanitized(
    html: str, pictures: Mapping[str, str] | None = None, *, has_remote: bool = False
) -> str:
    """Return HTML that can be shown in a frame.

    ``pictures`` are ``data:`` addresses by the Content-ID of a part; ``has_remote`` keeps the
    addresses of pictures of other sites, by https.

    >>> sanitized('<p onclick="x()">Hi<script>y()</script><img src="https://x.org/a.png">')
    '<p>Hi <img></p>'
    """
    return nh3.clean(
        balanced(html),
        tags=set(TAGS),
        clean_content_tags={"script", "style"},
        attributes=ATTRIBUTES,
        attribute_filter=_attribute_filter(pictures or {}, has_remote=has_remote),
        url_schemes={"http", "https", "mailto", "data", "cid"},
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


def document(html: str) -> str:
    """Return a document of HTML that is sanitized, on white ground whatever the page's scheme."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>The message as it was sent</title><style>{STYLE}</style></head>"
        f"<body>{html}</body></html>"
    )


def _attribute_filter(
    pictures: Mapping[str, str], *, has_remote: bool
) -> Callable[[str, str, str], str | None]:
    def keep(tag: str, name: str, value: str) -> str | None:
        if name == "style":
            return safe_style(value) or None
        if name == "href":
            return _link(value)
        if name == "src":
            return _picture(value, pictures, has_remote=has_remote)
        return value if name in _FREE or _WORDS.fullmatch(value) else None

    return keep


def _link(value: str) -> str | None:
    try:
        parts = urlsplit(value.strip())
    except ValueError:
        return None
    return value.strip() if parts.scheme in ("http", "https", "mailto") else None


def _picture(value: str, pictures: Mapping[str, str], *, has_remote: bool) -> str | None:
    value = value.strip()
    if value[:4].lower() == "cid:":
        return pictures.get(value[4:].strip("<>"))
    if value[:5].lower() == "data:":
        return value if len(value) <= LONGEST_PICTURE and _DATA.fullmatch(value) else None
    if not has_remote:
        return None
    value = f"https:{value}" if value.startswith("//") else value
    scheme, _, rest = value.partition("://")
    return f"https://{rest}" if scheme.lower() in ("http", "https") and rest else None
