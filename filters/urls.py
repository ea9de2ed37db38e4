"""Addresses of the pages."""

from __future__ import annotations

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from filters.accounts import views
from filters.authoring.views import complete, lists, write
from filters.inbox.views import inbox, message, original
from filters.site import health
from filters.sources.views import sources
from filters.sources.views import write as source_write

urlpatterns = [
    path("", inbox.inbox, name="inbox"),
    path("in/<slug:name>/", inbox.inbox, name="filter"),
    path("in/<slug:name>/gone/", inbox.inbox, {"gone": True}, name="filter-gone"),
    path("sidebar/", inbox.sidebar, name="sidebar"),
    path("read/", inbox.mark_all_read, name="mark-all-read"),
    path("message/", message.message, name="message"),
    path("message/original/", original.original, name="original"),
    path("message/original/file/", original.download, name="original-file"),
    path("message/annotate/", message.annotate, name="annotate"),
    path("filters/", lists.filters, name="filters"),
    path("filters/new/", write.new, name="new-filter"),
    path("filters/understand/", write.understand, name="understand"),
    path("filters/complete/", complete.completions, name="complete"),
    path("filters/preview/", write.preview, name="preview"),
    path("filters/preview/<uuid:task>/", write.preview_result, name="preview-result"),
    path("filter/<slug:name>/edit/", write.edit, name="edit-filter"),
    path("filter/<slug:name>/pause/", lists.pause, name="pause-filter"),
    path("filter/<slug:name>/resume/", lists.resume, name="resume-filter"),
    path("filter/<slug:name>/delete/", lists.delete, name="delete-filter"),
    path("sources/", sources.sources, name="sources"),
    path("sources/new/", source_write.new, name="new-source"),
    path("source/<int:pk>/", sources.source, name="source"),
    path("source/<int:pk>/edit/", source_write.edit, name="edit-source"),
    path("source/<int:pk>/places/", source_write.places, name="source-places"),
    path("source/<int:pk>/test/", sources.test, name="test-source"),
    path("source/<int:pk>/look/", sources.look, name="look-source"),
    path("source/<int:pk>/pause/", sources.pause, name="pause-source"),
    path("source/<int:pk>/resume/", sources.resume, name="resume-source"),
    path("source/<int:pk>/delete/", sources.delete, name="delete-source"),
    path("me/", views.me, name="me"),
    path(
        "sign-in/",
        LoginView.as_view(
            template_name="filters/accounts/sign_in.html", redirect_authenticated_user=True
        ),
        name="sign-in",
    ),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
    path("healthz", health.healthz, name="healthz"),
]
