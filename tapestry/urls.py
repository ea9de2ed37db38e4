"""Addresses of the site: the pages of ``filters``, and the administration."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("filters.urls")),
    path("admin/", admin.site.urls),
]

handler400 = "filters.site.limits.refuse"
