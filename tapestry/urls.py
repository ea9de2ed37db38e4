"""Addresses of the site: the pages of ``filters``, and the administration."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("filters.urls")),
    path("admin/", admin.site.urls),
]

handler400 = "filters.site.errors.bad_request"
handler403 = "filters.site.errors.forbidden"
handler404 = "filters.site.errors.not_found"
handler500 = "filters.site.errors.server_error"
