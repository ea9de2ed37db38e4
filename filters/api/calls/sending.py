"""Calls about what mail is written with: templates, signatures, addresses, and the server."""

from __future__ import annotations

from ninja import Router, Schema, Status

from filters.api.authentication import PersonalToken
from filters.api.calls.trials import TrialOut, trial_out
from filters.api.given import checked, form_data, own
from filters.compose.drafting import texts
from filters.compose.drafting.senders import confirm_another, senders
from filters.compose.forms import SmtpForm
from filters.compose.models import SmtpAccount, Template
from filters.compose.smtp_trial import write
from filters.people.requests import PersonRequest
from filters.site.work.crypto import opaque_keys
from filters.sources.accounts import trials

router = Router(tags=["drafts"])
READ, WRITE, SEND = PersonalToken("read"), PersonalToken("drafts"), PersonalToken("send")


class TemplateIn(Schema):
    """A text to begin messages with; without a name it is called by its first words."""

    name: str = ""
    text: str


class TemplateOut(TemplateIn):
    """A template of the caller's."""

    key: str


class SignatureIn(Schema):
    """The signature of what is written from an address of the caller's; "" removes it."""

    address: str
    text: str


class SendersOut(Schema):
    """Addresses that the caller may write from, and their signatures by address."""

    addresses: list[str]
    signatures: dict[str, str]


class AddressIn(Schema):
    """An address to write from, once its link was opened."""

    address: str


class ServerIn(Schema):
    """The caller's own mail server; ``secret`` is stored encrypted, and in no answer."""

    host: str
    port: int | None = None
    security: str = "tls"
    user: str = ""
    secret: str = ""


@router.get("/templates", auth=READ, response=list[TemplateOut])
def list_templates(request: PersonRequest) -> list[TemplateOut]:
    """List the caller's templates, of which there are at most 50."""
    return [_template(row) for row in Template.objects.filter(owner=request.user)]


@router.post("/templates", auth=WRITE, response={201: TemplateOut})
def make_template(request: PersonRequest, given: TemplateIn) -> Status[TemplateOut]:
    """Store a template."""
    return Status(201, _template(texts.store_template(request.user, given.name, given.text)))


@router.put("/templates/{key}", auth=WRITE, response=TemplateOut)
def change_template(request: PersonRequest, key: str, given: TemplateIn) -> TemplateOut:
    """Store another text in a template."""
    row = own(Template, request.user, key)
    return _template(texts.store_template(request.user, given.name, given.text, row.pk))


@router.delete("/templates/{key}", auth=WRITE, response={204: None})
def delete_template(request: PersonRequest, key: str) -> Status[None]:
    """Delete a template."""
    own(Template, request.user, key).delete()
    return Status(204, None)


@router.get("/senders", auth=READ, response=SendersOut)
def list_senders(request: PersonRequest) -> SendersOut:
    """List the addresses that the caller may write from, that of the account first."""
    return _senders(request)


@router.post("/senders", auth=SEND, response={202: SendersOut})
def add_sender(request: PersonRequest, given: AddressIn) -> Status[SendersOut]:
    """Send the link that confirms an address to write from; who opens it is signed in."""
    confirm_another(request.user, given.address.strip())
    return Status(202, _senders(request))


@router.put("/signatures", auth=WRITE, response=SendersOut)
def change_signature(request: PersonRequest, given: SignatureIn) -> SendersOut:
    """Store the signature of an address."""
    texts.store_signature(request.user, given.address, given.text)
    return _senders(request)


@router.put("/mail-server", auth=SEND, response={202: TrialOut})
def change_server(request: PersonRequest, given: ServerIn) -> Status[TrialOut]:
    """Have a mail server tried, by which the caller's mail is sent if it lets one in."""
    stored = SmtpAccount.objects.filter(owner=request.user).first()
    data = form_data(given.dict())
    checked(SmtpForm(data, stored=stored or SmtpAccount(owner=request.user)))
    trial = trials.begin(request.user, "smtp", write, {"data": data.urlencode()})
    return Status(202, trial_out(trial))


@router.delete("/mail-server", auth=SEND, response={204: None})
def remove_server(request: PersonRequest) -> Status[None]:
    """Forget the caller's own mail server, its password too."""
    SmtpAccount.objects.filter(owner=request.user).delete()
    return Status(204, None)


def _template(row: Template) -> TemplateOut:
    return TemplateOut(key=opaque_keys.encrypt(row.pk), name=row.name, text=row.text)


def _senders(request: PersonRequest) -> SendersOut:
    owner = request.user
    return SendersOut(addresses=senders(owner), signatures=texts.signatures(owner))
