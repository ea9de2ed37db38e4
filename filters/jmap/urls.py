"""Addresses of JMAP."""

from __future__ import annotations

from django.urls import path

from filters.jmap import views

urlpatterns = [
    path(".well-known/jmap", views.session, name="jmap"),
    path("jmap/api/", views.api, name="jmap-api"),
    path("jmap/download/<str:account>/<str:blob>/<str:name>", views.download, name="jmap-download"),
    path("jmap/upload/<str:account>/", views.upload, name="jmap-upload"),
    path("jmap/eventsource/", views.event_source, name="jmap-event-source"),
]
