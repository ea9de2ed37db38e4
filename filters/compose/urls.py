"""Addresses of writing mail: the editor, drafts, what is being sent, and by which server."""

from django.urls import path

from filters.compose.views import arrival, drafts, outgoing, sending, texts, write

urlpatterns = [
    path("compose/", write.compose, name="compose"),
    path("compose/complete/", write.completions, name="complete-recipients"),
    path("compose/save/", write.save, name="save-draft"),
    path("compose/preview/", write.preview, name="preview-draft"),
    path("compose/<uuid:uid>/", outgoing.outgoing, name="outgoing"),
    path("compose/<uuid:uid>/state/", outgoing.state, name="sending-state"),
    path("compose/<uuid:uid>/undo/", outgoing.undo, name="undo-send"),
    path("compose/<uuid:uid>/later/", outgoing.later, name="send-later"),
    path("compose/<uuid:uid>/again/", outgoing.again, name="send-again"),
    path("compose/<uuid:uid>/delete/", drafts.delete, name="delete-outgoing"),
    path("drafts/", drafts.drafts, name="drafts"),
    path("sending/", sending.sending, name="sending"),
    path("sending/address/", sending.confirm_sender, name="confirm-sender"),
    path("sending/signature/", texts.signature, name="signature"),
    path("templates/", texts.templates, name="templates"),
    path("sending/remove/", sending.remove, name="remove-smtp"),
    path("arrived/<str:token>/", arrival.arrived, name="arrived"),
]
