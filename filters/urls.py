"""Addresses of the pages, feature by feature."""

from django.urls import include, path

from filters.site import health

FEATURES = ("inbox", "search", "authoring", "sources", "delivery", "accounts")

urlpatterns = [
    *(path("", include(f"filters.{feature}.urls")) for feature in FEATURES),
    path("healthz", health.healthz, name="healthz"),
]
