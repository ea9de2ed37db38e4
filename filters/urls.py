"""Addresses of the pages, feature by feature."""

from django.urls import include, path

from filters.site import health

FEATURES = (
    *("inbox", "message", "triage", "search", "authoring", "sources", "delivery", "compose"),
    *("appraisers", "sharing", "accounts", "membership", "operator", "web_app"),
)

urlpatterns = [
    *(path("", include(f"filters.{feature}.urls")) for feature in FEATURES),
    path("healthz", health.healthz, name="healthz"),
]
