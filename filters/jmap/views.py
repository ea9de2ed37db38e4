"""Addresses of JMAP over HTTP (RFC 8620): the session, calls, downloads, and what has changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe
from ninja.errors import AuthenticationError, AuthorizationError

from filters.api import usage
from filters.api.authentication import PersonalToken
from filters.api.problems import NOT_HERE, problem, too_often, unauthorized
from filters.api.waits import wait_until
from filters.compose.drafting.drafts import MOST_BYTES
from filters.delivery.ways.vapid import vapid_keys
from filters.jmap import blobs
from filters.jmap.blobs import bytes_of
from filters.jmap.calls.orders import READ_SORTS, SORTS
from filters.jmap.methods import method_of
from filters.jmap.models import JmapAccount
from filters.jmap.objects import id_of
from filters.jmap.protocol import (
    CORE,
    EMAILPUSH,
    LIMITS,
    MAIL,
    SUBMISSION,
    WEBPUSH,
    RequestError,
    answers,
    read_request,
)
from filters.jmap.push import TYPES
from filters.jmap.records import account_of, state_of
from filters.people.requests import PersonRequest
from filters.site.work.rate_limits import TooManyTriesError
from tapestry.core.errors import TapestryError
from tapestry.mime.attachment import media_type

LONGEST_WAIT = 10
"""Seconds that a program waits at most for what changes, before it asks anew."""

SOON, LATER = 100, 1500
"""Milliseconds after which it asks anew; ``LATER`` where too many wait already."""

METHODS, TOKEN = "jmap.methods", "jmap.token"
"""Where a request keeps the names of its methods, and the token that it came with."""

NAMED = 3
"""Methods of a request that the uses of a token name."""

Page = Callable[..., HttpResponse]

_TOKEN = PersonalToken("jmap")


def _by_token(page: Page) -> Page:
    """Return a page for a program with a token, whose use is recorded."""

    @csrf_exempt
    @login_not_required
    @never_cache
    @wraps(page)
    def answer(request: HttpRequest, **named: Any) -> HttpResponse:
        try:
            token = _TOKEN(request)
        except AuthorizationError as error:
            return problem(403, error.message)
        except TooManyTriesError as error:
            return too_often(error)
        if token is None:
            return unauthorized()
        request.META[TOKEN] = token
        try:
            response = page(request, **named)
        except AuthenticationError:  # the token has ended meanwhile
            return unauthorized()
        usage.record(token, request, {"name": request.META.get(METHODS, "")})
        return response

    return answer


@_by_token
@require_safe
def session(request: PersonRequest) -> HttpResponse:
    """Say what is offered, and where (RFC 8620, 2)."""
    account = account_of(request.user)
    owner, base = request.user.get_username(), request.build_absolute_uri("/jmap/")
    mail = {
        "maxMailboxesPerEmail": None,
        "maxMailboxDepth": 1,
        "maxSizeMailboxName": 200,
        "maxSizeAttachmentsPerEmail": MOST_BYTES,
        "emailQuerySortOptions": [*SORTS, *READ_SORTS, "hasKeyword"],
        "mayCreateTopLevelMailbox": False,
    }
    submission = {"maxDelayedSend": 0, "submissionExtensions": {}}
    return JsonResponse(
        {
            "capabilities": {
                CORE: LIMITS | {"collationAlgorithms": ["i;ascii-casemap"]},
                MAIL: {},
                SUBMISSION: {},
                WEBPUSH: {"applicationServerKey": vapid_keys().public_key},
                EMAILPUSH: {},
            },
            "accounts": {
                id_of(account): {
                    "name": owner,
                    "isPersonal": True,
                    "isReadOnly": False,
                    "accountCapabilities": {
                        CORE: {},
                        MAIL: mail,
                        SUBMISSION: submission,
                        EMAILPUSH: {},
                    },
                }
            },
            "primaryAccounts": dict.fromkeys((CORE, MAIL, SUBMISSION, EMAILPUSH), id_of(account)),
            "username": owner,
            "apiUrl": request.build_absolute_uri(reverse("jmap-api")),
            "downloadUrl": f"{base}download/{{accountId}}/{{blobId}}/{{name}}?type={{type}}",
            "uploadUrl": f"{base}upload/{{accountId}}/",
            "eventSourceUrl": f"{base}eventsource/?types={{types}}&closeafter={{closeafter}}"
            "&ping={ping}",
            "state": _session_state(account),
        }
    )


@_by_token
@require_POST
def api(request: PersonRequest) -> HttpResponse:
    """Make the calls of a request (RFC 8620, 3)."""
    try:
        if request.content_type != "application/json":
            raise RequestError("notJSON", "The content is not application/json.")
        given = read_request(request.body)
    except RequestDataTooBig:
        error = RequestError("limit", "The request is too large.", limit="maxSizeRequest")
        return _refused(error)
    except RequestError as error:
        return _refused(error)
    names = [name for name, _, _ in given.calls]
    request.META[METHODS] = " · ".join(names[:NAMED])
    made = answers(given, partial(method_of, request.META[TOKEN], given.using))
    content: dict[str, Any] = {
        "methodResponses": made,
        "sessionState": _session_state(account_of(request.user)),
    }
    if given.tells_ids:
        content["createdIds"] = given.created_ids
    return JsonResponse(content)


@_by_token
@require_safe
def download(request: PersonRequest, account: str, blob: str, name: str) -> HttpResponse:
    """Give the original of an Email, or a part of it (RFC 8620, 6.2)."""
    own = account_of(request.user)
    content = bytes_of(own, blob) if account == id_of(own) else None
    if content is None:
        return problem(404, NOT_HERE)
    kind = media_type(request.GET.get("type", "").lower())
    response = HttpResponse(content, content_type=kind)
    response["Content-Disposition"] = content_disposition_header(True, name[:200])
    response["X-Content-Type-Options"] = "nosniff"
    return response


@_by_token
@require_POST
def upload(request: PersonRequest, account: str) -> HttpResponse:
    """Keep what a program puts here for an hour (RFC 8620, 6.1)."""
    own = account_of(request.user)
    if account != id_of(own):
        return problem(404, NOT_HERE)
    content = request.read(LIMITS["maxSizeUpload"] + 1)
    if len(content) > LIMITS["maxSizeUpload"]:
        error = RequestError("limit", "The upload is too large.", limit="maxSizeUpload")
        return _refused(error)
    try:
        blob = blobs.upload(own, content)
    except TapestryError as error:
        return problem(413, f"{error.message} Each upload is kept for an hour.")
    kind = media_type((request.content_type or "").lower())
    given = {"accountId": account, "blobId": blob, "type": kind, "size": len(content)}
    return JsonResponse(given, status=201)


@_by_token
@require_safe
def event_source(request: PersonRequest) -> HttpResponse:
    """Tell the states once they are others than those told last, and when to ask again.

    RFC 8620, 7.3; a client of event sources asks anew by itself, as HTML has it.
    """
    types = request.GET.get("types", "*").split(",")
    kinds = [kind for kind in TYPES if types == ["*"] or kind in types]
    known = request.headers.get("Last-Event-ID", "")
    token = request.META[TOKEN]
    waited = wait_until(token, lambda: _event_id(_states(request, kinds)) != known, LONGEST_WAIT)
    states = _states(request, kinds)
    lines = [f"retry: {SOON if waited else LATER}"]
    if _event_id(states) != known:
        account = id_of(account_of(request.user))
        changed = {"@type": "StateChange", "changed": {account: states}}
        lines += ["event: state", f"id: {_event_id(states)}", f"data: {json.dumps(changed)}"]
    elif request.GET.get("ping", "0") != "0":
        lines += ["event: ping", f'data: {{"interval": {LONGEST_WAIT}}}']
    return HttpResponse("\n".join([*lines, "", ""]), content_type="text/event-stream")


def _states(request: PersonRequest, kinds: list[str]) -> dict[str, str]:
    account = account_of(request.user)
    return {kind: state_of(account, kind) for kind in kinds}


def _event_id(states: dict[str, str]) -> str:
    return "-".join(states.values())


def _refused(error: RequestError) -> HttpResponse:
    return JsonResponse(error.problem, status=400, content_type="application/problem+json")


def _session_state(account: JmapAccount) -> str:
    return str(account.validity)
