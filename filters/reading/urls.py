"""Addresses of messages and of their parts."""

from django.urls import path

from filters.reading.views import (
    agreement,
    annotations,
    attachments,
    calendar,
    contacts,
    letters,
    message,
    originals,
)

urlpatterns = [
    path("agreement/", agreement.agreement, name="agreement"),
    path("calendar/", calendar.calendar, name="calendar"),
    path("contacts/", contacts.contacts, name="contacts"),
    path("message/", message.message, name="message"),
    path("message/original/", originals.original, name="original"),
    path("message/original/file/", originals.download, name="original-file"),
    path("message/letter/", letters.letter, name="letter"),
    path("message/html/", letters.html, name="message-html"),
    path("message/show-as/", letters.show_as, name="show-as"),
    path("message/standing/", letters.standing, name="standing"),
    path("message/attachment/", attachments.attachment, name="attachment"),
    path("message/attachment/picture/", attachments.picture, name="attachment-picture"),
    path("message/attachment/view/", attachments.view, name="attachment-view"),
    path("message/typeface/", letters.typeface, name="typeface"),
    path("message/annotate/", annotations.annotate, name="annotate"),
    path("message/annotate/undo/", annotations.undo, name="undo-annotation"),
]
