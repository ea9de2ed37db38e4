"""One POST to an address that a person named: a checked host, no redirect, all of it limited.

The request is that of tapestry/servers/web_request.py.
"""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from time import monotonic
from typing import Required, TypedDict, Unpack

from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError
from tapestry.deliver.batch import Outcome
from tapestry.deliver.http.retry_after import parse_retry_after
from tapestry.servers.private_hosts import AddressRefusedError, Resolver, read_target, resolve_host
from tapestry.servers.web_request import requested, tls_for

MOST_BYTES = 1000
"""Bytes of an answer that are read, where nothing else is said."""
SECONDS = 10.0


class NoAnswerError(TapestryError):
    """A request without an answer: it may be tried again.

    One sentence serves whatever went wrong, so that nobody learns from it which ports of a host
    are open.
    """


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a server: ``text`` is the beginning of it, ``retry_after`` is in seconds."""

    status: int
    text: str
    retry_after: float | None = None

    @property
    def summary(self) -> str:
        """Return the status and the text in one line, for the owner of a destination.

        >>> Answer(503, "Come back later.").summary
        '503 Service Unavailable: Come back later.'
        """
        with suppress(ValueError):
            words = f"{self.status} {HTTPStatus(self.status).phrase}"
            return ": ".join(filter(None, (words, " ".join(self.text.split()))))
        return ": ".join(filter(None, (str(self.status), " ".join(self.text.split()))))


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    allowed: Sequence[str],
    seconds: float = SECONDS,
    ca: str | None = None,
    most_bytes: int = MOST_BYTES,
    resolve: Resolver = resolve_host,
) -> Answer:
    """Send one POST and return the answer, whatever its status; no redirect is followed.

    ``allowed`` names networks and hosts beside the public ones (tapestry.servers.private_hosts),
    ``seconds`` limits all of it, ``ca`` is a file of certificate authorities in place of the
    system's, ``most_bytes`` is how much of the answer's body is read.

    Raise AddressRefusedError if nothing may be sent there, NoAnswerError if no answer came.
    """
    deadline = monotonic() + seconds
    target = read_target(url)
    tls = tls_for(target, ca)
    no_answer = NoAnswerError(
        f"{target.host} gave no answer within {seconds:g} seconds.",
        hint="Check the address, and that its server takes a POST.",
    )
    try:
        with requested(
            "POST",
            target,
            body,
            headers,
            allowed=allowed,
            deadline=deadline,
            tls=tls,
            resolve=resolve,
        ) as response:
            return _answer(response, most_bytes)
    except ssl.SSLCertVerificationError as error:
        raise NoAnswerError(
            f"The certificate of {target.host} is not to be trusted: {error.verify_message}.",
        ) from error
    except (OSError, http.client.HTTPException) as error:
        raise no_answer from error


class Limits(TypedDict, total=False):
    """Parameters of ``post`` that are not of the request; a test has its own."""

    allowed: Required[Sequence[str]]
    seconds: float
    ca: str | None
    resolve: Resolver


def posted(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    gone: Collection[int],
    **limits: Unpack[Limits],
) -> Outcome:
    """Send one POST, and return what became of what it carries.

    An answer of 2xx is a delivery; a status of ``gone`` ends the subscription, as does an address
    that nothing may be sent to.  After any other, and without one, it is to be tried again.
    """
    try:
        answer = post(url, body, headers, **limits)
    except AddressRefusedError as error:
        return Outcome("refused", error.message)
    except NoAnswerError as error:
        return Outcome("retry", error.message)
    return outcome_of(answer, gone)


def outcome_of(answer: Answer, gone: Collection[int]) -> Outcome:
    """Return what an answer means for what was sent.

    >>> outcome_of(Answer(204, ""), [410]).state, outcome_of(Answer(410, ""), [410]).state
    ('delivered', 'refused')
    """
    if 200 <= answer.status < 300:
        return Outcome("delivered", answer.summary)
    if answer.status in gone:
        return Outcome("refused", answer.summary)
    return Outcome("retry", answer.summary, answer.retry_after)


def _answer(response: http.client.HTTPResponse, most_bytes: int) -> Answer:
    """Return the answer; once its status is there, an end that never comes changes nothing."""
    body = b""
    try:
        body = response.read(most_bytes)
    except http.client.IncompleteRead as error:
        body = error.partial[:most_bytes]
    except (OSError, http.client.HTTPException):
        pass
    text = "".join(
        character if character.isprintable() or character in "\n\t" else " "
        for character in body.decode("utf-8", "replace")
    )
    retry_after = parse_retry_after(response.getheader("Retry-After"), wall_clock())
    return Answer(response.status, text.strip(), retry_after)
