"""Calls about the address book of the caller."""

from __future__ import annotations

from ninja import Field, Router, Schema

from filters.api.authentication import PersonalToken
from filters.people.requests import PersonRequest
from filters.reading.address_book import MOST, add, contacts_of, remove
from filters.reading.tasks import append_soon
from tapestry.mime.vcards import LARGEST, addresses_in

router = Router(tags=["contacts"])
READ, ACT = PersonalToken("read"), PersonalToken("acts")


class ContactsIn(Schema):
    """Addresses, and the text of a vCard file that has some; either may be empty."""

    addresses: list[str] = Field(default=[], max_length=MOST)
    cards: str = Field(default="", max_length=LARGEST)


class CountOut(Schema):
    """How many addresses a call has added or taken out."""

    count: int


@router.get("/contacts", auth=READ, response=list[str])
def list_contacts(request: PersonRequest) -> list[str]:
    """List the addresses in the caller's address book, in order."""
    return list(contacts_of(request.user))


@router.post("/contacts", auth=ACT, response=CountOut)
def add_contacts(request: PersonRequest, given: ContactsIn) -> CountOut:
    """Add addresses to the address book; filters speak of them soon."""
    count = add(request.user, _addresses(given))
    append_soon()
    return CountOut(count=count)


@router.post("/contacts/remove", auth=ACT, response=CountOut)
def remove_contacts(request: PersonRequest, given: ContactsIn) -> CountOut:
    """Take addresses out of the address book; those that are not in it count for nothing."""
    count = remove(request.user, _addresses(given))
    append_soon()
    return CountOut(count=count)


def _addresses(given: ContactsIn) -> list[str]:
    from_file = addresses_in(given.cards.encode(errors="surrogatepass")) if given.cards else []
    return [*(address.lower() for address in given.addresses), *from_file]
