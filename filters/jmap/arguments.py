"""The arguments of the methods, as RFC 8620 and RFC 8621 name them; others are refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from filters.jmap.protocol import MethodError

Count = Annotated[int, Field(ge=0, lt=2**53)]
Int = Annotated[int, Field(gt=-(2**53), lt=2**53)]
Patch = dict[str, Any]


class Arguments(BaseModel):
    """Arguments of any method that is of an account."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True)

    account_id: str


class Get(Arguments):
    """Arguments of /get."""

    ids: list[str] | None = None
    properties: list[str] | None = None


class Bodies(Arguments):
    """Which texts of Emails are given, and what of their parts."""

    body_properties: list[str] | None = None
    fetch_text_body_values: bool = False
    fetch_html_body_values: bool = Field(False, alias="fetchHTMLBodyValues")
    fetch_all_body_values: bool = False
    max_body_value_bytes: Count = 0


class EmailGet(Get, Bodies):
    """Arguments of Email/get."""


class EmailParse(Bodies):
    """Arguments of Email/parse."""

    blob_ids: list[str]
    properties: list[str] | None = None


class SnippetGet(Arguments):
    """Arguments of SearchSnippet/get."""

    email_ids: list[str]
    filter: Patch | None = None


class Changes(Arguments):
    """Arguments of /changes."""

    since_state: str
    max_changes: Annotated[int, Field(gt=0, lt=2**53)] | None = None


class Set(Arguments):
    """Arguments of /set."""

    if_in_state: str | None = None
    create: dict[str, Patch] | None = None
    update: dict[str, Patch] | None = None
    destroy: list[str] | None = None
    on_destroy_remove_emails: bool = False


class SubmissionSet(Set):
    """Arguments of EmailSubmission/set."""

    on_success_update_email: Patch | None = None
    on_success_destroy_email: list[str] | None = None


class Push(BaseModel):
    """Arguments of any method of PushSubscription: it is of a token, not of an account."""

    model_config = Arguments.model_config


class PushGet(Push):
    """Arguments of PushSubscription/get."""

    ids: list[str] | None = None
    properties: list[str] | None = None


class PushSet(Push):
    """Arguments of PushSubscription/set."""

    create: dict[str, Patch] | None = None
    update: dict[str, Patch] | None = None
    destroy: list[str] | None = None


class PushChange(BaseModel):
    """What may change of a PushSubscription."""

    model_config = Arguments.model_config

    verification_code: str | None = None
    expires: str | None = None
    types: list[str] | None = None
    email_push: dict[str, Any] | None = None


class PushSubscription(PushChange):
    """A PushSubscription (RFC 8620, 7.2) with the messages of which it is sent properties."""

    device_client_id: Annotated[str, Field(min_length=1, max_length=200)]
    url: str
    keys: dict[str, str] | None = None


class Comparator(BaseModel):
    """An order (RFC 8620, 5.5)."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True)

    property: str
    is_ascending: bool = True
    collation: str | None = None
    keyword: str | None = None


class Question(Arguments):
    """What is asked of objects: which, in which order."""

    filter: Patch | None = None
    sort: list[Comparator] | None = None
    calculate_total: bool = False


class Query(Question):
    """Arguments of /query."""

    position: Int = 0
    anchor: str | None = None
    anchor_offset: Int = 0
    limit: Count | None = None


class MailboxQuery(Query):
    """Arguments of Mailbox/query."""

    sort_as_tree: bool = False
    filter_as_tree: bool = False


class EmailQuery(Query):
    """Arguments of Email/query."""

    collapse_threads: bool = False


class QueryChanges(Question):
    """Arguments of /queryChanges."""

    since_query_state: str
    max_changes: Count | None = None
    up_to_id: str | None = None


class EmailQueryChanges(QueryChanges):
    """Arguments of Email/queryChanges."""

    collapse_threads: bool = False


class Address(BaseModel):
    """An EmailAddress (RFC 8621, 4.1.2.3)."""

    model_config = Arguments.model_config

    name: str | None = None
    email: Annotated[str, Field(max_length=254)]


class Written(BaseModel):
    """Part of an Email that a program makes (RFC 8621, 4.1.4), with more than is read of it."""

    model_config = ConfigDict(alias_generator=to_camel, extra="ignore", strict=True)

    part_id: str | None = None
    blob_id: str | None = None
    type: str = "text/plain"
    name: str | None = None
    disposition: str | None = None
    sub_parts: list[Written] | None = None


class Text(BaseModel):
    """The text of a part."""

    model_config = ConfigDict(alias_generator=to_camel, extra="ignore", strict=True)

    value: str


class NewEmail(BaseModel):
    """An Email that a program makes: what of it a draft has; dates and ids it is given here."""

    model_config = Arguments.model_config

    mailbox_ids: Annotated[dict[str, Literal[True]], Field(min_length=1)]
    keywords: dict[str, Literal[True]] = {}
    from_: Annotated[list[Address], Field(max_length=1)] | None = Field(None, alias="from")
    to: list[Address] | None = None
    cc: list[Address] | None = None
    bcc: list[Address] | None = None
    reply_to: None = None
    sender: None = None
    subject: str | None = None
    in_reply_to: list[str] | None = None
    references: list[str] | None = None
    message_id: list[str] | None = None
    sent_at: str | None = None
    received_at: str | None = None
    body_structure: Written | None = None
    body_values: dict[str, Text] = {}
    text_body: list[Written] = []
    html_body: list[Written] = []
    attachments: list[Written] = []


class ImportedEmail(BaseModel):
    """A message that a program puts into a mailbox (RFC 8621, 4.8)."""

    model_config = Arguments.model_config

    blob_id: str
    mailbox_ids: Annotated[dict[str, Literal[True]], Field(min_length=1)]
    keywords: dict[str, Literal[True]] = {}
    received_at: str | None = None


class Mailbox(BaseModel):
    """An address of an envelope; no parameters of extensions of SMTP are known here."""

    model_config = Arguments.model_config

    email: str
    parameters: None = None


class Envelope(BaseModel):
    """Whom a letter is from and to, by SMTP (RFC 8621, 7)."""

    model_config = Arguments.model_config

    mail_from: Mailbox
    rcpt_to: list[Mailbox]


class NewSubmission(BaseModel):
    """An EmailSubmission that a program makes."""

    model_config = Arguments.model_config

    identity_id: str
    email_id: str
    envelope: Envelope | None = None


class SubmissionCondition(BaseModel):
    """A condition on submissions (RFC 8621, 7.3)."""

    model_config = Arguments.model_config

    identity_ids: list[str] | None = None
    email_ids: list[str] | None = None
    thread_ids: list[str] | None = None
    undo_status: str | None = None
    before: str | None = None
    after: str | None = None


class Copy(Arguments):
    """Arguments of /copy."""

    model_config = ConfigDict(alias_generator=to_camel, extra="ignore", strict=True)

    from_account_id: str


class Import(Arguments):
    """Arguments of Email/import."""

    if_in_state: str | None = None
    emails: dict[str, Patch]


Model = TypeVar("Model", bound=BaseModel)


def read(model: type[Model], given: Patch, otherwise: str = "invalidArguments") -> Model:
    """Return arguments that are as a model has them; MethodError, of this type, if they are not."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, fault["loc"]))[:100]
        raise MethodError(otherwise, f"{place}: {fault['msg']}") from error
