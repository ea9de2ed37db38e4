"""The API itself: its version, its calls, its OpenAPI document."""

from __future__ import annotations

from ninja import NinjaAPI

from filters.api.calls import arrival, filters, messages, questions
from filters.api.problems import handle_errors

api = NinjaAPI(
    title="Tapestry",
    version="1",
    description="Filters, what they find, and what people say of messages.",
    openapi_url=None,
    docs_url=None,
    urls_namespace="api-1",
)
handle_errors(api)
for part in (filters, questions, messages, arrival):
    api.add_router("", part.router)
