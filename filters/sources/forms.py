"""The forms of a source: where and as whom; and which folders or groups."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError

from filters.people import people
from filters.people.budgets import shortage_of
from filters.sources.accounts.oauth import check_token_url
from filters.sources.models import Source
from tapestry.core.errors import TapestryError
from tapestry.core.message import PUBLIC
from tapestry.ingest.nntp.wildmat import check_pattern
from tapestry.ingest.session import usual_port
from tapestry.servers.account import is_this_machine

EVERY = [
    (60, "every minute"),
    (300, "every 5 minutes"),
    (1800, "every half hour"),
    (7200, "every 2 hours"),
]
WHERE = ("host", "port", "security", "path", "user", "method", "token_url")
"""Fields that change only with the secret given again: else it could be sent elsewhere."""

FIELDS = (*WHERE, "client_id", "audience", "every")
"""Fields of a source that its form changes, apart from its secrets."""

PUBLISHING = "To bring mail for everybody or for a group, ask an administrator for permission."
"""What a person is told who may bring mail for themselves alone."""

AUDIENCE_CHANGED = (
    "If you change this, mail that has come stays with those who may see it now, and everything "
    "there is read again for the others."
)

APP_PASSWORD = "Many providers require an app password: one made for this program alone."

DAV = (Source.Kind.CARDDAV, Source.Kind.CALDAV)

OF_MAIL = {
    "host": "Such as imap.example.org: your provider’s help calls it the IMAP server, or the "
    "server for incoming mail.",
    "user": "Often your whole address.",
    "secret": APP_PASSWORD,
}
OF_NEWS = {"host": "Such as news.example.org.", "user": "Leave empty if everybody may read."}
OF_DAV = {
    "host": "Such as dav.example.org, or an address that begins with https://, as your provider’s "
    "help names it.",
    "path": "Leave empty to have all found; or that of a single one.",
    "user": "Often your whole address.",
    "secret": APP_PASSWORD,
}
"""Help texts of a mailbox, of a news server, and of contacts and calendars, by field."""

MOST_FOLDERS = 500
_HOST = re.compile(r"[A-Za-z0-9_.:\-]{1,253}")
_UNSEEN = re.compile(r"[\x00-\x1f\x7f]")
_UNSEEN_INPUT = forms.PasswordInput(attrs={"autocomplete": "off"})


class ServerForm(forms.Form):
    """Where a server is, and as whom one logs in; subclasses say which protocol it speaks."""

    protocol: str = Source.Kind.IMAP
    in_url: Mapping[str, Any] = {}

    host = forms.CharField(label="Server", max_length=253)
    security = forms.ChoiceField(
        label="Connection security", choices=Source.Security.choices, initial="tls"
    )
    port = forms.IntegerField(
        label="Port",
        min_value=1,
        max_value=65535,
        required=False,
        help_text="Leave empty for the usual one.",
    )
    user = forms.CharField(label="User name", max_length=254, required=False)
    secret = forms.CharField(
        label="Password", max_length=8192, required=False, strip=False, widget=_UNSEEN_INPUT
    )

    def set_help(self, *, has_secret: bool, **texts: str) -> None:
        """Set help texts by field; that of the secret says whether one is stored."""
        kept = "One is stored; leave this empty to keep it. " if has_secret else ""
        secret = f"{kept}It is stored encrypted and never shown to anybody. "
        texts["secret"] = (secret + texts.get("secret", "")).strip()
        for name, text in texts.items():
            self.fields[name].help_text = text

    def clean_host(self) -> str:
        host = str(self.cleaned_data["host"]).strip()
        if self.protocol in DAV and "://" in host:
            host = self._read_url(host)
        host = host.strip("[]")
        if not _HOST.fullmatch(host):
            raise ValidationError("Give the name of the server alone: imap.example.org.")
        return host

    def _read_url(self, url: str) -> str:
        """Return the host of an address; what it says besides counts as given."""
        try:
            parts = urlsplit(url)
            path = parts.path if parts.path.strip("/") else ""
            security = "tls" if parts.scheme == "https" else "none"
            self.in_url = {"port": parts.port, "path": path, "security": security}
        except ValueError:
            return url
        return parts.hostname or ""

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        given |= {name: value for name, value in self.in_url.items() if value}
        security = given.get("security")
        given["port"] = given.get("port") or usual_port(self.protocol, tls=security == "tls")
        for name in ("user", "secret"):
            if _UNSEEN.search(given.get(name) or ""):
                self.add_error(name, "There is an invisible character in it.")
        if security == "none" and given.get("user") and not is_this_machine(given.get("host", "")):
            self.add_error("security", "A password is sent over TLS only, except to this machine.")
        if self.protocol in (Source.Kind.IMAP, *DAV) and not given.get("user"):
            self.add_error("user", "Give the name with which you log in.")
        return given


class SourceForm(ServerForm):
    """Where the mail is, as whom one logs in, and who may see it."""

    field_order = ("host", "security", "port", "path", "user", "method", "secret")

    path = forms.RegexField(
        r"^/[\x21-\x7e]*$",
        label="Path",
        required=False,
        max_length=500,
        error_messages={"invalid": "A path begins with /, and has no blanks."},
    )

    method = forms.ChoiceField(
        label="Log in with", choices=Source.Method.choices, initial="password", required=False
    )
    token_url = forms.URLField(
        label="Where a refresh token is renewed", required=False, assume_scheme="https"
    )
    client_id = forms.CharField(label="Client id", max_length=200, required=False)
    client_secret = forms.CharField(
        label="Client secret", max_length=1000, required=False, widget=_UNSEEN_INPUT
    )
    audience = forms.ChoiceField()
    every = forms.TypedChoiceField(label="Check for mail", choices=EVERY, coerce=int, initial=60)

    def __init__(self, data: Any, *, source: Source, suggested: Mapping[str, Any] = {}) -> None:
        stored = {name: getattr(source, name) for name in FIELDS} if source.pk else None
        initial = dict(suggested) if stored is None else stored
        super().__init__(data, initial=initial)
        self.source, self.protocol = source, source.kind
        if suggested:
            first_to_fill = "secret" if "host" in suggested else "host"
            self.fields[first_to_fill].widget.attrs["autofocus"] = True
        private = f"user:{source.owner.get_username()}"
        audiences = people.publishable(source.owner) if source.has_mail else (private,)
        self.fields["audience"] = forms.ChoiceField(
            label=f"Who may see the {source.content}",
            choices=[(name, audience_in_words(name)) for name in audiences],
            help_text=" ".join(
                [PUBLISHING] * (audiences == (private,)) + [AUDIENCE_CHANGED] * bool(source.pk)
            )
            if source.has_mail
            else "",
            initial=PUBLIC if source.is_news and PUBLIC in audiences else private,
            error_messages={"invalid_choice": f"%(value)s is not one of yours. {PUBLISHING}"},
        )
        if not source.pk:
            self.fields["security"].help_text = "TLS is right for nearly all servers."
        self.fields["every"].label = f"Check for {source.content}"
        texts = OF_NEWS if source.is_news else OF_MAIL if source.is_mailbox else OF_DAV
        self.set_help(has_secret=bool(source.pk and source.secret), **texts)
        if source.has_mail:
            del self.fields["path"]
        else:
            self.fields["security"] = forms.ChoiceField(
                label="Connection security", choices=[("tls", "TLS"), ("none", "none")]
            )
            self.fields["every"].initial = 300
        if source.is_news:
            for name in ("method", "token_url", "client_id", "client_secret"):
                del self.fields[name]

    def clean(self) -> dict[str, Any]:
        given = super().clean()
        if not self.source.pk and (shortage := shortage_of(self.source.owner, "sources")):
            raise ValidationError(shortage)
        given["method"] = given.get("method") or "password"
        self._check_secret(given)
        if given.get("token_url"):
            try:
                check_token_url(given["token_url"])
            except TapestryError as error:
                self.add_error("token_url", error.message)
        return given

    def _check_secret(self, given: dict[str, Any]) -> None:
        if given.get("secret") or not given.get("user"):
            return
        if not self.source.pk:
            self.add_error("secret", "Give the password, or the token.")
        elif any(given[name] != getattr(self.source, name) for name in WHERE if name in given):
            self.add_error("secret", "Give the password again: it is to be sent elsewhere.")


class FoldersForm(forms.Form):
    """Which folders of a mailbox, or which groups, one on each line."""

    folders = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 6}))

    def __init__(self, *args: Any, kind: str, ticked: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind, self.ticked = kind, ticked

    def clean_folders(self) -> list[str]:
        """Read the names; of a mailbox those that were ticked count too."""
        lines = str(self.cleaned_data["folders"]).splitlines()
        named = [*self.ticked, *(line.strip() for line in lines)]
        folders = list(dict.fromkeys(name for name in named if name))
        if not folders:
            raise ValidationError("Choose at least one.")
        if len(folders) > MOST_FOLDERS:
            raise ValidationError(
                f"At most {MOST_FOLDERS} can be named; a pattern stands for many."
            )
        for folder in folders:
            if problem := self._problem(folder):
                raise ValidationError(problem)
        return folders

    def sound_ticks(self) -> list[str]:
        """Return the names among those that were ticked: the worker is told no others."""
        ticked = (name for name in dict.fromkeys(self.ticked) if name)
        return [name for name in ticked if not self._problem(name)][:MOST_FOLDERS]

    def _problem(self, folder: str) -> str:
        """Say why this is not the name of a folder or group; nothing if it is one."""
        if len(folder) > 500 or _UNSEEN.search(folder):
            return f"“{folder[:50]}” is not a name."
        if self.kind == Source.Kind.NNTP:
            try:
                check_pattern(folder)
            except TapestryError as error:
                return f"{error.message} {error.hint}"
        return ""


def audience_in_words(audience: str) -> str:
    """Say who an audience is.

    >>> audience_in_words("public"), audience_in_words("group:parc")
    ('everybody here', 'the group parc')
    """
    kind, _, name = audience.partition(":")
    if kind == "group":
        return f"the group {name}"
    return f"{name} alone" if kind == "user" else "everybody here"
