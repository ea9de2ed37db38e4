"""HTML of mail: hostile things are gone, nothing reaches out, and time is bounded."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filters.reading.rendering.html import document, has_remote_pictures, policy, sanitized
from filters.reading.rendering.styles import safe_style

PIXEL = "data:image/png;base64,iVBORw0KGgo="

HOSTILE = {
    "script": "<script>alert(1)</script><script src=http://evil.org/x.js></script>",
    "unclosed script": "<p>a</p><script>alert('</p>",
    "handlers": '<p onclick="alert(1)" onmouseover=alert(1)>x</p><body onload=alert(1)>',
    "svg": "<svg onload=alert(1)><script>alert(1)</script><image href=http://evil.org/></svg>",
    "math": '<math><mtext><table><mglyph><style><!--</style>'
    '<img title="--&gt;&lt;img onerror=x&gt;">',
    "noscript": '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
    "style import": '<style>@import "http://evil.org/x.css"; p{background:url(http://evil.org)}</style>',
    "style attribute": '<p style="background:url(http://evil.org/x);width:expression(alert(1))">x</p>',
    "escaped style": r'<p style="background:u\72l(http://evil.org)">x</p>',
    "commented style": '<p style="background:u/**/rl(http://evil.org)">x</p>',
    "image-set": "<p style=\"background:image-set('http://evil.org' 1x)\">x</p>",
    "fixed": '<div style="position:fixed;inset:0;z-index:99">x</div>',
    "link": "<link rel=stylesheet href=http://evil.org/x.css>"
    "<link rel=preload href=//evil.org>",
    "meta": '<meta http-equiv=refresh content="0;url=http://evil.org">',
    "base": "<base href=http://evil.org/ target=_top>",
    "form": "<form action=http://evil.org><input name=q>"
    "<button formaction=x>go</button></form>",
    "picture": "<img src=http://evil.org/a.png srcset='http://evil.org 2x' lowsrc=http://evil.org>",
    "picture element": "<picture><source srcset=http://evil.org></picture>",
    "media": "<video poster=http://evil.org src=http://evil.org></video>"
    "<audio src=//evil.org>",
    "background": "<table background=http://evil.org><tr><td background=http://evil.org>x</table>",
    "frame": "<iframe src=http://evil.org srcdoc='<script>x</script>'></iframe>"
    "<object data=x><embed src=x>",
    "svg picture": "<img src='data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+'>",
    "javascript": '<a href="java\tscript:alert(1)">x</a><a href=" JAVASCRIPT:alert(1)">x</a>',
    "data link": '<a href="data:text/html,<script>alert(1)</script>">x</a>',
    "dns": "<link rel=dns-prefetch href=//evil.org><a ping=http://evil.org>x</a>",
    "quotes": "<img alt='\"><script>alert(1)</script>'>",
    "comment": "<!--><script>alert(1)</script>--><![CDATA[<script>alert(1)</script>]]>",
}  # fmt: skip

LOADS = re.compile(
    r"""(?:src|srcset|poster|background|data|action|ping|href)\s*=\s*["']?([^"'\s>]*)"""
)


@pytest.mark.parametrize("what", HOSTILE)
@pytest.mark.parametrize("has_remote", [False, True])
def test_hostile_html(what: str, has_remote: bool) -> None:
    html = sanitized(f"<p>Before</p>{HOSTILE[what]}", has_remote=has_remote)
    tags = {tag.lower() for tag in re.findall(r"<\s*/?\s*([a-zA-Z]+)", html)}
    assert not tags & {
        *("script", "style", "svg", "math", "link", "meta", "base", "form", "input", "button"),
        *("iframe", "object", "embed", "video", "audio", "source", "picture", "template"),
    }
    for attributes in re.findall(r"<\w+([^>]*)>", html):
        names = set(re.findall(r"""([\w-]+)=(?:"[^"]*")""", attributes))
        assert names <= {"style", "title", "alt", "src", "href", "target", "rel", "bgcolor"}
    assert "url(" not in html and "position" not in html and "image-set" not in html
    allowed = ("https://",) if has_remote else ()
    for address in LOADS.findall(html):
        assert address.startswith(allowed) if allowed else not address, html
    assert html.startswith("<p>Before</p>")


TOKENS = st.sampled_from(
    [
        "<",
        ">",
        "/",
        '"',
        "'",
        "=",
        " ",
        "<script>",
        "</script>",
        "<style>",
        "</style>",
        "<!--",
        "-->",
        "<svg>",
        "<math>",
        "<p ",
        "<img ",
        "<a ",
        "src=",
        "href=",
        "style=",
        "onerror=",
        "alert(1)",
        "javascript:",
        "http://evil.org",
        "cid:a",
        "url(",
        ")",
        "&lt;",
        "&#x3c;",
        "\u0000",
        "x",
        "<table>",
        "<td>",
        "</p>",
        "<noscript>",
        "<title>",
        "</title>",
        "<template>",
        "<body>",
    ]
)


@given(st.lists(TOKENS, max_size=60).map("".join))
def test_any_html_becomes_harmless(html: str) -> None:
    cleaned = sanitized(html)
    assert sanitized(cleaned).count("<script") == 0
    for tag in re.findall(r"<[a-zA-Z][^>]*>", cleaned):
        assert not re.search(r"""\son\w+\s*=(?=(?:[^"]*"[^"]*")*[^"]*$)""", tag), cleaned
        assert not tag.startswith(("<script", "<style", "<svg", "<math", "<meta", "<base", "<link"))
        src = re.search(r'\ssrc="([^"]*)"', tag)
        assert src is None, cleaned


def test_ordinary_html_stays_as_it_is() -> None:
    row = '<tr><td style="color:red">x</td></tr>'
    html = f'<table width="600" bgcolor="#fff"><tbody>{row}</tbody></table>'
    assert sanitized(html) == html


def test_links_open_beside_the_page() -> None:
    html = sanitized('<a href="https://x.org/?a=1&amp;b">x</a>')
    assert 'target="_blank"' in html and 'rel="noopener noreferrer nofollow"' in html


def test_pictures_of_the_message_are_shown() -> None:
    assert (
        sanitized('<img src="cid:a@b" alt="us">', {"a@b": PIXEL}) == f'<img src="{PIXEL}" alt="us">'
    )
    assert sanitized('<img src="cid:other">', {"a@b": PIXEL}) == "<img>"


def test_pictures_of_other_sites_are_loaded_when_asked_by_https_alone() -> None:
    html = '<img src="http://x.org/a.png">'
    assert has_remote_pictures(html) and not has_remote_pictures('<img src="cid:a">')
    assert sanitized(html) == "<img>"
    assert sanitized(html, has_remote=True) == '<img src="https://x.org/a.png">'


def test_the_policy_of_the_frame() -> None:
    assert "img-src data:;" in policy() and "img-src data: https:;" in policy(has_remote=True)
    for directive in (
        "default-src 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
        "sandbox ",
    ):
        assert directive in policy()
    # Of the same origin the page may measure it: that is safe only where no script runs.
    assert "allow-same-origin" in policy() and "allow-scripts" not in policy()


def test_the_document_is_whole_and_on_white() -> None:
    assert document("<p>x</p>").endswith("<body><p>x</p></body></html>")
    assert "background:#fff" in document("")


@pytest.mark.parametrize(
    ("style", "safe"),
    [
        ("color: RED; font: bold 12px/1.5 'Times New Roman', serif",
         "color:RED;font:bold 12px/1.5 'Times New Roman', serif"),
        ("color: rgb(1, 2, 3); background: rgba(1,2,3,.5)",
         "color:rgb(1, 2, 3);background:rgba(1,2,3,.5)"),
        ("position:absolute; top:0; opacity:0; transform:scale(9); animation:x", ""),
        ("color:var(--x); width:calc(1px + 1px); content:attr(x)", ""),
        ("font-family:'a;color:red", "color:red"),
        ("color:red}body{background:red", ""),
        ("behavior:url(x); -moz-binding:url(x)", ""),
    ],
)  # fmt: skip
def test_styles(style: str, safe: str) -> None:
    assert safe_style(style) == safe


COSTLY = {
    "ten megabytes": "<p>Hello, hello.</p>\n" * 500_000,
    "deep": "<div>" * 100_000,
    "deep letters": "<b>" * 100_000 + "x" + "</i>" * 50_000,
    "letters that are opened again": "".join(f"<b id=a{n}>" for n in range(20_000))
    + "<p>x" * 20_000,
    "again in paragraphs": ("<p>" + "<b>" * 59 + "<div></div>") * 2_000,
    "tables": "<table>x" * 60_000,
    "signs": "<" * 500_000,
    "ampersands": "&" * 500_000,
    "comments": "<!--" * 125_000,
    "open tags": "<a " * 170_000,
    "attributes": "<a " + "b=c " * 125_000 + ">",
    "text areas": "<textarea>" * 50_000,
    "styles": '<p style="' + "color:rgb(" * 50_000 + '">',
}  # fmt: skip


@pytest.mark.parametrize("what", COSTLY)
def test_html_made_to_cost_hours_takes_seconds(what: str) -> None:
    began = time.process_time()
    sanitized(COSTLY[what])
    has_remote_pictures(COSTLY[what][: 512 * 1024])
    assert time.process_time() - began < 5
