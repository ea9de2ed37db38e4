"""The API itself: its version, its calls, its OpenAPI document."""

from __future__ import annotations

from typing import Any

from ninja import NinjaAPI

from filters.api.calls import (
    aggregates,
    agreement,
    arrival,
    budget,
    calendar,
    contacts,
    destinations,
    drafts,
    feeds,
    filter_acts,
    filters,
    importance,
    imports,
    messages,
    questions,
    sending,
    sharing,
    sources,
    triage,
    trials,
)
from filters.api.problems import handle_errors

DESCRIPTION = """\
What a person does on the pages, for a program: filters, what they find, messages, and where mail
comes from and goes.

Each call names the scope that its token needs. A call that changes something may have the header
Idempotency-Key: sent again with the same key within a day, it is answered as before and does
nothing. Lists of many rows are read behind a cursor, `after`, or by pages. What a server has to
answer is begun by a call (202), and asked about by the task or trial that it returns.
"""

api = NinjaAPI(
    title="Tapestry",
    version="1",
    description=DESCRIPTION,
    openapi_url=None,
    docs_url=None,
    urls_namespace="api-1",
)
handle_errors(api)
for part in (
    *(filters, filter_acts, sharing, aggregates, imports, questions, messages, triage, importance),
    *(
        sources,
        trials,
        destinations,
        feeds,
        drafts,
        sending,
        arrival,
        agreement,
        budget,
        calendar,
        contacts,
    ),
):
    api.add_router("", part.router)


def described() -> dict[str, Any]:
    """Return the OpenAPI document, in which each call names the scope that its token needs."""
    schema: dict[str, Any] = api.get_openapi_schema()
    scopes = {
        api.get_openapi_operation_id(operation): [
            getattr(token, "scope", "") for token in operation.auth_callbacks or [router.auth]
        ]
        for _, router in api._routers
        for view in router.path_operations.values()
        for operation in view.operations
    }
    for calls in schema["paths"].values():
        for call in calls.values():
            call["security"] = [{"PersonalToken": scopes[call["operationId"]]}]
    return schema
