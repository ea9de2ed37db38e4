"""The page of one's address book: whom it has, and who is added or taken out."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from filters.people.requests import PersonRequest, form_methods
from filters.reading.address_book import MOST_SHOWN, add, contacts_of, remove
from filters.reading.tasks import append_soon
from tapestry.compose.recipients import read_recipients
from tapestry.core.errors import TapestryError
from tapestry.mime.vcards import LARGEST, addresses_in


@form_methods
def contacts(request: PersonRequest) -> HttpResponse:
    """Show the address book of a person; or add people to it, or take some out."""
    refusal, typed = "", request.POST.get("addresses", "")
    if request.method == "POST":
        try:
            messages.success(request, _changed(request))
        except TapestryError as error:
            refusal = error.sentences
        else:
            append_soon()
            return redirect("contacts")
    every = list(contacts_of(request.user))
    context = {
        "contacts": every[:MOST_SHOWN],
        "more": max(0, len(every) - MOST_SHOWN),
        "count": len(every),
        "refusal": refusal,
        "typed": typed,
    }
    return render(request, "reading/contacts.html", context, status=400 if refusal else 200)


def _changed(request: PersonRequest) -> str:
    """Add to the address book, or take out of it, as the form says; return what was done."""
    typed = read_recipients(request.POST.get("addresses", ""))
    addresses = [*request.POST.getlist("address"), *[recipient.key for recipient in typed]]
    if file := request.FILES.get("file"):
        addresses += addresses_in(file.read(LARGEST + 1))
    if not addresses:
        raise TapestryError("Choose a file with addresses, or write some.")
    if request.POST.get("act") == "remove":
        return f"{_count(remove(request.user, addresses))} taken out."
    return f"{_count(add(request.user, addresses))} added."


def _count(number: int) -> str:
    return f"{number:,} {'address' if number == 1 else 'addresses'}"
