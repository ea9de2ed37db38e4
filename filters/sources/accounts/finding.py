"""Finding the server of an address: by the table at once, else by lookups that the worker makes.

    address ─ known ─> suggestion
       └ trial ─ worker ─ find: the domain alone is looked up ─> answer ─ suggested ─> suggestion

A suggestion fills in a form.  Whoever reads it gives the password and has the server tried.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError

from filters.people.models import User
from filters.sources.accounts.trials import Answer
from filters.sources.models import Source, Trial
from tapestry.servers.discovery.discover import Network, Way, discover
from tapestry.servers.discovery.providers import Provider, provider_named, provider_of
from tapestry.servers.discovery.server_settings import Protocol, ServerSettings, host_name


class AddressForm(forms.Form):
    """The e-mail address whose server is to be found."""

    address = forms.EmailField(
        label="Your e-mail address",
        max_length=254,
        error_messages={"required": "Write your e-mail address."},
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )

    def clean_address(self) -> str:
        address = str(self.cleaned_data["address"])
        if not host_name(domain_of(address)):
            raise ValidationError("Write an address such as terry@example.org.")
        return address


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What is suggested for an address; ``settings`` is None if nothing was found."""

    address: str
    settings: ServerSettings | None
    way: Way | None = None
    provider: Provider | None = None

    @property
    def domain(self) -> str:
        return self.address.rpartition("@")[2]

    @property
    def is_elsewhere(self) -> bool:
        """Whether the server's name is outside the domain, which RFC 6186 asks to be confirmed."""
        return self.settings is not None and not self.settings.is_within(domain_of(self.address))

    @property
    def initial(self) -> dict[str, Any]:
        """What the form of the server begins with."""
        if self.settings is None:
            return {"user": self.address}
        fields = asdict(self.settings)
        return {**fields, "user": self.settings.user_of(self.address)}


def domain_of(address: str) -> str:
    """Return the domain of an address as DNS has it, empty if it has none.

    >>> domain_of("joe@Bücher.example")
    'xn--bcher-kva.example'
    """
    try:
        return address.rpartition("@")[2].encode("idna").decode("ascii").lower()
    except UnicodeError:
        return ""


def usual_address(owner: User, protocol: Protocol) -> str:
    """Return the address that a form begins with: that of the account.

    Mail is sent by the provider of a mailbox that is a source, if there is one.
    """
    mailboxes = Source.objects.filter(owner=owner, kind=Source.Kind.IMAP, user__contains="@")
    first = mailboxes.order_by("pk").first() if protocol == "smtp" else None
    return first.user if first else owner.email


def known(address: str, protocol: Protocol) -> Suggestion | None:
    """Return what the table of providers has for an address, None if it is not there."""
    provider = provider_of(domain_of(address))
    if provider is None:
        return None
    return Suggestion(address, provider.settings(protocol), "provider", provider)


def find(owner: User, question: dict[str, Any]) -> Answer:
    """Look up the server of an address, in the worker; only its domain is sent.

    ``page`` is the address of the page whose form what is found fills in.
    """
    protocol: Protocol = question["protocol"]
    address = str(question["address"])
    network = Network(tuple(settings.PRIVATE_HOSTS))
    discovered = discover(domain_of(address), protocol, network)
    answer = {"url": str(question["page"]), "address": address}
    return {**answer, "server": asdict(discovered) if discovered else None}


def suggested(trial: Trial) -> Suggestion | None:
    """Return what a trial found, None unless it has ended well."""
    answer = trial.answer
    if "server" not in answer:
        return None
    stored = answer["server"]
    if stored is None:
        return Suggestion(answer["address"], None)
    server = ServerSettings(**stored["settings"])
    provider = provider_named(stored["provider"], server.host)
    return Suggestion(answer["address"], server, stored["way"], provider)
