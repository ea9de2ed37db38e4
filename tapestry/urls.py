"""Addresses of the site: the pages of ``filters``, and the administration."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

handler500 = "filters.site.server_error.server_error"

urlpatterns = [
    path("", include("filters.urls")),
    # That of Django asks for a password without limits.
    path("admin/password_change/", RedirectView.as_view(pattern_name="password")),
    path("admin/", admin.site.urls),
]

handler400 = "filters.site.limits.refuse"
