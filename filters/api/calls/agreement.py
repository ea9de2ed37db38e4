"""Calls about the people who agree with the caller, and whom the caller leaves out of them."""

from __future__ import annotations

from ninja import Router, Schema, Status

from filters.api.authentication import PersonalToken
from filters.people.requests import PersonRequest
from filters.reading.agreement import agreements_with, leave_out

router = Router(tags=["agreement"])
READ, ACT = PersonalToken("read"), PersonalToken("acts")


class ColleagueOut(Schema):
    """Somebody, how many votes they have in common with the caller, and how many are alike."""

    person: str
    in_common: int
    agreed: int
    left_out: bool


class LeftOutIn(Schema):
    """A user name, and whether they are left out or count again."""

    person: str
    left_out: bool


@router.get("/agreement", auth=READ, response=list[ColleagueOut])
def list_colleagues(request: PersonRequest) -> list[ColleagueOut]:
    """List who has votes in common with the caller, those who agree most first."""
    left_out = set(request.user.left_out)
    return [
        ColleagueOut(
            person=colleague.person,
            in_common=colleague.in_common,
            agreed=len(colleague.agreed),
            left_out=colleague.person in left_out,
        )
        for colleague in agreements_with(request.user)
    ]


@router.put("/agreement", auth=ACT, response={204: None})
def change_left_out(request: PersonRequest, given: LeftOutIn) -> Status[None]:
    """Leave somebody out of “people who agree with me”, or count them again."""
    leave_out(request.user, given.person, out=given.left_out)
    return Status(204, None)
