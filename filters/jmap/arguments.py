"""The arguments of the methods, as RFC 8620 and RFC 8621 name them; others are refused."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

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


class EmailGet(Get):
    """Arguments of Email/get."""

    body_properties: list[str] | None = None
    fetch_text_body_values: bool = False
    fetch_html_body_values: bool = Field(False, alias="fetchHTMLBodyValues")
    fetch_all_body_values: bool = False
    max_body_value_bytes: Count = 0


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


class Comparator(BaseModel):
    """An order (RFC 8620, 5.5)."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True)

    property: str
    is_ascending: bool = True
    collation: str | None = None
    keyword: str | None = None


class Query(Arguments):
    """Arguments of /query."""

    filter: Patch | None = None
    sort: list[Comparator] | None = None
    position: Int = 0
    anchor: str | None = None
    anchor_offset: Int = 0
    limit: Count | None = None
    calculate_total: bool = False


class MailboxQuery(Query):
    """Arguments of Mailbox/query."""

    sort_as_tree: bool = False
    filter_as_tree: bool = False


class EmailQuery(Query):
    """Arguments of Email/query."""

    collapse_threads: bool = False


class QueryChanges(Arguments):
    """Arguments of /queryChanges."""

    filter: Patch | None = None
    sort: list[Comparator] | None = None
    since_query_state: str
    max_changes: Count | None = None
    up_to_id: str | None = None
    calculate_total: bool = False
    collapse_threads: bool = False


Model = TypeVar("Model", bound=BaseModel)


def read(model: type[Model], given: Patch, otherwise: str = "invalidArguments") -> Model:
    """Return arguments that are as a model has them; MethodError, of this type, if they are not."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, fault["loc"]))[:100]
        raise MethodError(otherwise, f"{place}: {fault['msg']}") from error
