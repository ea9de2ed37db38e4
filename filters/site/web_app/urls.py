"""Addresses of the web app: its manifest, its service worker, the page shown without a net."""

from django.urls import path

from filters.site.web_app import views

urlpatterns = [
    path("manifest.webmanifest", views.manifest, name="manifest"),
    path("sw.js", views.service_worker, name="service-worker"),
    path("offline/", views.offline, name="offline"),
]
