"""Addresses of delivery: destinations, feeds, and the links of what is sent."""

from django.urls import path

from filters.delivery.views import (
    acts,
    bounces,
    destinations,
    feeds,
    kept_mail,
    muted,
    push,
    samples,
    webhook,
    write,
)

urlpatterns = [
    path("delivery/", destinations.destinations, name="destinations"),
    path("delivery/new/<slug:kind>/", write.add, name="new-destination"),
    path("delivery/<int:pk>/", destinations.destination, name="destination"),
    path("delivery/<int:pk>/edit/", write.edit, name="edit-destination"),
    path("delivery/<int:pk>/on/", destinations.turn_on, name="turn-on-destination"),
    path("delivery/<int:pk>/off/", destinations.turn_off, name="turn-off-destination"),
    path("delivery/<int:pk>/delete/", destinations.delete, name="delete-destination"),
    path("delivery/<int:pk>/link/", destinations.send_link, name="send-link"),
    path("delivery/<int:pk>/preview/", samples.preview, name="preview-destination"),
    path("delivery/<int:pk>/preview/html/", samples.preview_html, name="preview-html"),
    path("delivery/<int:pk>/send/", samples.send_now, name="send-sample"),
    path("delivery/unmute/<int:pk>/", muted.unmute, name="unmute"),
    path("act/<slug:act>/<str:token>/", acts.act, name="act"),
    path("unsubscribe/<str:token>/", acts.unsubscribe, name="unsubscribe"),
    path("confirm/<str:token>/", acts.confirm, name="confirm"),
    path("bounces/<str:token>/", bounces.bounces, name="bounces"),
    path("mail/", kept_mail.kept_mails, name="kept-mails"),
    path("mail/<int:pk>/", kept_mail.kept_mail, name="kept-mail"),
    path("mail/<int:pk>/html/", kept_mail.kept_mail_html, name="kept-mail-html"),
    path("feeds/", feeds.feeds, name="feeds"),
    path("feeds/make/", feeds.make, name="make-feed"),
    path("feeds/<int:pk>/change/", feeds.change, name="change-feed"),
    path("feeds/<int:pk>/remove/", feeds.remove, name="remove-feed"),
    path("feeds/<str:token>.atom", feeds.feed, name="feed"),
    path("feeds/<str:token>.ics", feeds.calendar, name="feed-calendar"),
    path("delivery/push/", push.browsers, name="push"),
    path("delivery/push/subscribe/", push.subscribe, name="subscribe-push"),
    path("delivery/push/<int:pk>/remove/", push.remove, name="remove-push"),
    path("delivery/webhook/<int:pk>/secret/", webhook.secret, name="webhook-secret"),
]
