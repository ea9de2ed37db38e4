"""Addresses of the inbox: lists and messages."""

from django.urls import path

from filters.inbox.views import inbox, message

urlpatterns = [
    path("", inbox.inbox, name="inbox"),
    path("in/<slug:name>/", inbox.inbox, name="filter"),
    path("in/<slug:name>/gone/", inbox.inbox, {"retracted": True}, name="filter-retracted"),
    path("in/<slug:name>/show/", inbox.show_now, name="show-now"),
    path("sidebar/", inbox.sidebar, name="sidebar"),
    path("read/", inbox.mark_all_read, name="mark-all-read"),
    path("message/", message.message, name="message"),
    path("message/original/", message.original, name="original"),
    path("message/original/file/", message.download, name="original-file"),
    path("message/annotate/", message.annotate, name="annotate"),
]
