"""Errors of the API: problem details (RFC 9457), each with a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from django.core.exceptions import ValidationError as FieldsError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, AuthorizationError, HttpError, ValidationError

from filters.site.web.middleware import words_of
from filters.site.work.rate_limits import TooManyTriesError
from tapestry.core.errors import TapestryError
from tapestry.core.surroundings import is_of_surroundings, is_unforeseen

SIGN_IN = (
    "Send “Authorization: Bearer …” with a token of your page Access tokens that has not ended."
)
NOT_HERE = "There is no such thing here, or you may not see it."
NO_CALL = "There is no such call. The page /api/ and /api/v1/openapi.json have all that there are."
NO_JSON = "The body of the call is no JSON."


class RefusedError(Exception):
    """What a call asks for is refused with a sentence, and a status of 4xx.

    ``faults`` have a ``detail`` and a ``pointer`` each, where there are places to name.
    """

    def __init__(self, status: int, detail: str, faults: Sequence[dict[str, str]] = ()) -> None:
        super().__init__(detail)
        self.status, self.detail, self.faults = status, detail, faults


def refusal(error: TapestryError, status: int = 422) -> RefusedError:
    """Return an error of what a caller wrote as a refusal."""
    return RefusedError(status, error.sentences)


def problem(status: int, detail: str, **more: Any) -> HttpResponse:
    """Return an answer that says what is wrong, as application/problem+json."""
    content = {"title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}
    return JsonResponse(content, status=status, content_type="application/problem+json")


def too_often(error: TooManyTriesError) -> HttpResponse:
    """Return the answer to a call of a token that has made too many."""
    answer = problem(429, f"This token has been used too often. Wait {error.seconds} seconds.")
    answer.headers["Retry-After"] = str(error.seconds)
    return answer


def unauthorized() -> HttpResponse:
    """Return the answer to a call without a token that stands."""
    answer = problem(401, SIGN_IN)
    answer.headers["WWW-Authenticate"] = "Bearer"
    return answer


def no_such_method(answer: HttpResponse) -> HttpResponse:
    """Return an answer to a method that an address has not as problem details."""
    methods = ", ".join(sorted(answer.headers["Allow"].split(", ")))
    response = problem(405, f"Use {methods} here.")
    response.headers["Allow"] = methods
    return response


def _place(kind: str, *names: object) -> dict[str, str]:
    """Return where a fault is: in the body that was sent, or which parameter of the address.

    >>> _place("body", "given", "events", 0), _place("query", "limit")
    ({'pointer': '#/events/0'}, {'parameter': 'limit'})
    """
    if kind == "body":
        return {"pointer": "/".join(map(str, ("#", *names[1:])))}
    return {"parameter": str(names[-1])}


def handle_errors(api: NinjaAPI) -> None:
    """Have an API answer each error with problem details; none tells what nobody foresaw."""

    @api.exception_handler(RefusedError)
    def refused(request: HttpRequest, error: RefusedError) -> HttpResponse:
        more = {"errors": list(error.faults)} if error.faults else {}
        return problem(error.status, error.detail, **more)

    @api.exception_handler(AuthenticationError)
    def unknown(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
        return unauthorized()

    @api.exception_handler(AuthorizationError)
    def not_opened(request: HttpRequest, error: AuthorizationError) -> HttpResponse:
        return problem(403, error.message)

    @api.exception_handler(TooManyTriesError)
    def too_many(request: HttpRequest, error: TooManyTriesError) -> HttpResponse:
        return too_often(error)

    @api.exception_handler(Http404)
    def not_there(request: HttpRequest, error: Http404) -> HttpResponse:
        return problem(404, NOT_HERE)

    @api.exception_handler(ValidationError)
    def misformed(request: HttpRequest, error: ValidationError) -> HttpResponse:
        faults = [{"detail": fault["msg"], **_place(*fault["loc"])} for fault in error.errors]
        return problem(422, "The call is not formed as the API describes it.", errors=faults)

    @api.exception_handler(FieldsError)
    def bad_fields(request: HttpRequest, error: FieldsError) -> HttpResponse:
        return problem(422, " ".join(error.messages))

    @api.exception_handler(HttpError)
    def wrong(request: HttpRequest, error: HttpError) -> HttpResponse:
        return problem(error.status_code, NO_JSON if error.status_code == 400 else str(error))

    @api.exception_handler(TapestryError)
    def faulty(request: HttpRequest, error: TapestryError) -> HttpResponse:
        is_own_fault = is_of_surroundings(error) or is_unforeseen(error)
        return failed(request, error) if is_own_fault else refused(request, refusal(error))

    @api.exception_handler(Exception)
    def failed(request: HttpRequest, error: Exception) -> HttpResponse:
        words = words_of(error, request.path)
        if words is None:
            raise error
        sentence, hint, status = words
        return problem(status, f"{sentence} {hint}".strip())
