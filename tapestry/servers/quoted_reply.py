"""Quote the replies of servers: storable, printable and without the secret."""

from __future__ import annotations

import re
from base64 import b64decode

_LONGEST = 200
_HIDDEN = "…"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{4,}")


def quoted_reply(error: Exception, secret: str = "") -> str:
    r"""Return the reply in an error, without undecodable bytes and without the secret.

    >>> quoted_reply(ValueError("502 Acc\udce8s refus\udce9."))
    '502 Acc?s refus?'
    >>> quoted_reply(ValueError("unknown command AUTHINFO PASS s3cret"), "s3cret")
    'unknown command AUTHINFO PASS …'
    """
    text = str(error)
    if secret:
        text = _without(text, secret)
    text = storable(_CONTROL.sub(" ", text))
    return text.strip().removesuffix(".")[:_LONGEST] or type(error).__name__


def storable(text: str) -> str:
    r"""Return a text that any database can store: no surrogates, no NUL.

    >>> storable("gr\udcfcn\0")
    'gr?n'
    """
    return text.encode("utf-8", "replace").decode().replace("\0", "")


def cause_without_secret(error: Exception, secret: str) -> Exception | None:
    """Return an error to be raised from, or None if it contains the secret."""
    return error if not secret or _without(str(error), secret) == str(error) else None


def is_plain(name: str) -> bool:
    r"""Return whether a name can be stored and shown: text without control characters.

    >>> is_plain("Größe"), is_plain("gr\udcfc"), is_plain("a\nb"), is_plain("")
    (True, False, False, False)
    """
    return name != "" and storable(name) == name and not _CONTROL.search(name)


def _without(text: str, secret: str) -> str:
    """Hide a secret: plain, quoted for IMAP, as in the repr of bytes, and in base64."""
    quoted = secret.replace("\\", "\\\\").replace('"', '\\"')
    forms = {secret, quoted}
    for form in (secret, quoted):
        raw = form.encode()
        forms |= {repr(raw)[2:-1], raw.decode("latin-1"), raw.decode("ascii", "surrogateescape")}
    longest_first = sorted(forms, key=len, reverse=True)
    text = re.sub("|".join(map(re.escape, longest_first)), _HIDDEN, text, flags=re.IGNORECASE)
    raw = secret.encode()
    return _BASE64.sub(lambda word: _HIDDEN if _contains(word[0], raw) else word[0], text)


def _contains(word: str, secret: bytes) -> bool:
    """Return whether a word contains a secret in base64, at any offset."""
    for start in range(4):
        part = word[start:]
        if len(part) % 4 == 1:
            part = part[:-1]  # one character is less than a byte
        if secret in b64decode(part + "=" * (-len(part) % 4)):
            return True
    return False
