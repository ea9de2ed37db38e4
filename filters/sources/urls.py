"""Addresses of the pages about sources."""

from __future__ import annotations

from django.urls import path

from filters.sources.views import sources
from filters.sources.views import write as source_write

urlpatterns = [
    path("sources/", sources.sources, name="sources"),
    path("sources/new/", source_write.new, name="new-source"),
    path("source/<int:pk>/", sources.source, name="source"),
    path("source/<int:pk>/edit/", source_write.edit, name="edit-source"),
    path("source/<int:pk>/places/", source_write.folders, name="source-places"),
    path("source/<int:pk>/test/", sources.test, name="test-source"),
    path("source/<int:pk>/look/", sources.look, name="look-source"),
    path("source/<int:pk>/pause/", sources.pause, name="pause-source"),
    path("source/<int:pk>/resume/", sources.resume, name="resume-source"),
    path("source/<int:pk>/delete/", sources.delete, name="delete-source"),
]
