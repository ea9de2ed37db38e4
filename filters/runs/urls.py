"""Addresses of the operator's pages, and of the health of the site."""

from django.urls import include, path

from filters.runs.operator import health

urlpatterns = [
    path("", include("filters.runs.operator.urls")),
    path("healthz", health.healthz, name="healthz"),
]
