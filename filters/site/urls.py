"""Addresses of the site itself: those of the web app."""

from django.urls import include, path

urlpatterns = [path("", include("filters.site.web_app.urls"))]
