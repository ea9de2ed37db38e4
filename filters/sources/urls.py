"""Addresses of the pages about sources."""

from django.urls import path

from filters.sources.views import sources, trials, write

urlpatterns = [
    path("sources/", sources.sources, name="sources"),
    path("sources/new/", write.write, name="new-source"),
    path("source/<int:pk>/", sources.source, name="source"),
    path("source/<int:pk>/edit/", write.write, name="edit-source"),
    path("source/<int:pk>/places/", write.folders, name="source-folders"),
    path("trial/<int:pk>/", trials.trial, name="trial"),
    path("source/<int:pk>/test/", sources.test, name="test-source"),
    path("source/<int:pk>/look/", sources.pull_now, name="pull-source"),
    path("source/<int:pk>/pause/", sources.pause, name="pause-source"),
    path("source/<int:pk>/resume/", sources.resume, name="resume-source"),
    path("source/<int:pk>/acts/", sources.allow_acts, name="allow-acts"),
    path("source/<int:pk>/delete/", sources.delete, name="delete-source"),
]
