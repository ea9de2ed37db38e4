"""Addresses of the site: those of each app of ``filters``, and the administration."""

from __future__ import annotations

from importlib.util import find_spec

from django.apps import apps
from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from filters.people.second_factor.views import admin_sign_in

handler500 = "filters.site.web.server_error.server_error"

admin.autodiscover()  # here: no worker or command needs the pages of the administration

urlpatterns = [
    *(
        path("", include(f"{app.name}.urls"))
        for app in apps.get_app_configs()
        if app.name.startswith("filters.") and find_spec(f"{app.name}.urls")
    ),
    # That of Django asks for a password without limits.
    path("admin/password_change/", RedirectView.as_view(pattern_name="password")),
    path("admin/login/", admin_sign_in),
    path("admin/", admin.site.urls),
]

handler400 = "filters.site.web.limits.refuse"
