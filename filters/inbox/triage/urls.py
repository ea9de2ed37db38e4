"""Addresses of triage: its lists, and what is done with messages."""

from django.urls import path

from filters.inbox.triage.lists import SHELVES
from filters.inbox.triage.views import acts, shelves

urlpatterns = [
    *(path(f"{name}/", shelves.shelf, {"name": name}, name=name) for name in SHELVES),
    path("message/actions/", acts.actions, name="message-actions"),
    path("read/", acts.mark_all_read, name="mark-all-read"),
    path("triage/undo/<uuid:step>/", acts.undo, name="undo"),
    path("triage/select/", acts.select, name="select-all"),
    path("triage/do/<slug:action>/", acts.act, name="triage"),
]
