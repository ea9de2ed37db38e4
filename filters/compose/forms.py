"""The forms of a draft, and of the server by which a person's mail is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django import forms

from filters.authoring.reminders import EVERY
from filters.compose import servers
from filters.compose.models import OutgoingMessage, SmtpAccount
from filters.inbox.triage.snoozing import moments, read_moment
from filters.people.models import User
from filters.site.templatetags.mail import time_words
from filters.site.work.crypto.encryption import encrypt
from filters.site.work.parts import services
from filters.sources.accounts.trials import LIMIT, PATIENCE
from filters.sources.forms import APP_PASSWORD, ServerForm
from tapestry.compose.letter import LONGEST_TEXT
from tapestry.compose.recipients import LONGEST
from tapestry.core.clock import to_datetime, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.servers.quoted_reply import storable
from tapestry.servers.smtp import PORTS, connected

CHOSEN = "chosen"
"""What a form says of a time that is not among the moments that are offered."""

_LINE_END = re.compile(r"\r\n|\r")


def _too_long(most: int, what: str) -> dict[str, str]:
    return {"max_length": f"{what} may have {most:,} characters: make it shorter."}


def _addresses(label: str, *, is_completed: bool = True) -> forms.CharField:
    attributes = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}
    if is_completed:
        attributes |= {"data-complete": "/compose/complete/", "aria-autocomplete": "list"}
    return forms.CharField(
        label=label,
        required=False,
        max_length=LONGEST,
        error_messages=_too_long(LONGEST, "A field of addresses"),
        widget=forms.TextInput(attrs=attributes),
    )


class DraftForm(forms.Form):
    """A draft as it is typed: all may be unfinished, only lengths are checked.

    The hidden fields say which draft it is, which window sends it, the version that this shows, and
    whose address's signature it has: without JavaScript that follows the sender once it is posted.
    """

    uid = forms.UUIDField(widget=forms.HiddenInput)
    editor = forms.UUIDField(widget=forms.HiddenInput)
    version = forms.IntegerField(min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput)
    parent = forms.CharField(required=False, max_length=2000, widget=forms.HiddenInput, strip=False)
    parent_audience = forms.CharField(
        required=False, max_length=200, widget=forms.HiddenInput, strip=False
    )
    is_forward = forms.BooleanField(required=False, widget=forms.HiddenInput)
    signer = forms.CharField(required=False, max_length=254, widget=forms.HiddenInput)

    sender = forms.CharField(label="From", required=False, max_length=254, widget=forms.Select)
    newsgroups = _addresses("Newsgroups", is_completed=False)
    to = _addresses("To")
    cc = _addresses("Cc")
    bcc = _addresses("Bcc")
    subject = forms.CharField(
        label="Subject",
        required=False,
        max_length=500,
        error_messages=_too_long(500, "A subject"),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    body = forms.CharField(
        label="Text",
        required=False,
        strip=False,
        max_length=2 * LONGEST_TEXT,
        error_messages=_too_long(LONGEST_TEXT, "A text"),
        widget=forms.Textarea(attrs={"rows": 16}),
    )
    formatted = forms.BooleanField(label="Formatted", required=False)
    attach_parent = forms.BooleanField(label="Attach the original message", required=False)

    remind = forms.CharField(
        label="Remind me if nobody answers", required=False, max_length=20, widget=forms.Select
    )
    remind_by = forms.CharField(
        label="by this time",
        required=False,
        max_length=40,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
    )
    remind_every = forms.ChoiceField(label="and again", required=False, choices=list(EVERY.items()))

    KEPT = (
        *("parent", "parent_audience", "is_forward", "sender", "newsgroups", "to", "cc", "bcc"),
        *("subject", "body", "formatted", "attach_parent", "remind_every"),
    )
    """The fields of a draft that the model keeps."""

    def clean_body(self) -> str:
        text = _LINE_END.sub("\n", str(self.cleaned_data["body"]))
        if len(text) > LONGEST_TEXT:
            raise forms.ValidationError(_too_long(LONGEST_TEXT, "A text")["max_length"])
        return text

    def offer_moments(self, owner: User) -> None:
        """Offer times at which its writer may be reminded of it."""
        select: Any = self.fields["remind"].widget
        offered = moments(owner.zone, wall_clock())
        select.choices = [
            ("", "no reminder"),
            *((moment.name, f"by {time_words(moment.instant)}") for moment in offered),
            (CHOSEN, "by another time:"),
        ]

    def remind_at(self, owner: User) -> int | None:
        """Return when the writer is to be reminded; None for never.  Raise TapestryError."""
        name = self.cleaned_data["remind"]
        return read_moment(owner, name, self.cleaned_data["remind_by"]) if name else None

    def kept(self, owner: User) -> dict[str, Any]:
        """Return the fields of the draft as they are stored; without a time that cannot be."""
        given = {name: self.cleaned_data[name] for name in self.KEPT}
        given["remind_every"] = int(given["remind_every"] or 0)
        with suppress(TapestryError):
            given["remind_at"] = None
            given["remind_at"] = self.remind_at(owner)
        return {n: storable(v) if isinstance(v, str) else v for n, v in given.items()}

    @classmethod
    def initial_of(cls, draft: OutgoingMessage, editor: str) -> dict[str, Any]:
        """Return what the form shows of a draft in a window."""
        shown = {name: getattr(draft, name) for name in cls.KEPT}
        if draft.remind_at is not None:
            at = to_datetime(draft.remind_at).astimezone(draft.owner.zone)
            shown |= {"remind": CHOSEN, "remind_by": f"{at:%Y-%m-%dT%H:%M}"}
        shown |= {"uid": draft.uid, "editor": editor, "version": draft.version}
        return shown | {"signer": draft.sender}


NO_PASSWORD = f"{APP_PASSWORD} A mailbox of yours that signs in with a token needs none to send."


class SmtpForm(ServerForm):
    """The server by which a person's mail is sent: where it is, and as whom one logs in."""

    protocol = "smtp"

    SETTINGS = ("host", "port", "security", "user")

    def __init__(
        self, data: Any, *, stored: SmtpAccount, suggested: Mapping[str, Any] = {}
    ) -> None:
        known = {name: getattr(stored, name) for name in self.SETTINGS} if stored.pk else None
        initial = dict(suggested) if known is None else known
        super().__init__(data, initial=initial)
        self.stored = stored
        host = "Such as smtp.example.org: your provider calls it the server for outgoing mail."
        self.set_help(has_secret=bool(stored.secret), host=host, secret=NO_PASSWORD)

    def clean(self) -> dict[str, Any]:
        security = self.cleaned_data.get("security") or "tls"
        self.cleaned_data["port"] = self.cleaned_data.get("port") or PORTS[security]
        given = super().clean()
        if given.get("secret") or not given.get("user"):
            return given
        if not self._is_changed() or servers.token_source(self._tried()):
            return given
        if not self.stored.pk:
            self.add_error("secret", "Enter the password.")
        else:
            self.add_error(
                "secret", "Enter the password again, because the server or user name has changed."
            )
        return given

    def try_connection(self) -> None:
        """Log in to the server; raise TapestryError if that fails."""
        given = self.cleaned_data
        needs_none = not given["user"] or self._is_changed()
        secret = given["secret"] or ("" if needs_none else None)
        with connected(servers.account_of(self._tried(), secret), PATIENCE, LIMIT):
            pass

    def _is_changed(self) -> bool:
        """Tell whether what is given is another account than the one that is stored, if any."""
        of_stored = (getattr(self.stored, name) for name in self.SETTINGS)
        return not self.stored.pk or list(of_stored) != list(
            map(self.cleaned_data.get, self.SETTINGS)
        )

    def _tried(self) -> SmtpAccount:
        given = {name: self.cleaned_data.get(name, "") for name in self.SETTINGS}
        return SmtpAccount(owner=self.stored.owner, secret=self.stored.secret, **given)

    def store(self) -> SmtpAccount:
        """Store the server; without a password that of the same account stays."""
        given, is_changed = self.cleaned_data, self._is_changed()
        for name in self.SETTINGS:
            setattr(self.stored, name, given[name])
        if given["secret"] or not given["user"] or is_changed:
            self.stored.secret = encrypt(given["secret"], services.data())
        self.stored.save()
        return self.stored
