"""The call that says whether what somebody brought has reached every delivery of theirs."""

from __future__ import annotations

from ninja import Router

from filters.api.authentication import PersonalToken
from filters.api.problems import refusal
from filters.api.schemas import ArrivedOut
from filters.compose.arrival import NoSuchTokenError, StoppedError, remaining_of
from filters.people.requests import PersonRequest

router = Router(tags=["arrival"])


@router.get("/arrived/{token}", auth=PersonalToken("read"), response=ArrivedOut)
def arrived(request: PersonRequest, token: str) -> ArrivedOut:
    """Say whether what a token is of has reached the caller's filters, lists and deliveries.

    409 if it does not go on before somebody does something, as a letter that was refused.
    """
    try:
        rest = remaining_of(token, request.user)
    except NoSuchTokenError as error:
        raise refusal(error, 404) from error
    except StoppedError as error:
        raise refusal(error, 409) from error
    return ArrivedOut(complete=not rest.now, waits_for=list(rest.now), later=list(rest.later))
