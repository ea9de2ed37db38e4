"""Addresses of delivery: destinations, feeds, and the links of what is sent."""

from django.urls import path

from filters.delivery.views import acts, bounces, kept_mail

urlpatterns = [
    path("delivery/<int:pk>/", acts.unsubscribe, name="destination"),
    path("act/<slug:act>/<str:token>/", acts.act, name="act"),
    path("unsubscribe/<str:token>/", acts.unsubscribe, name="unsubscribe"),
    path("confirm/<str:token>/", acts.confirm, name="confirm"),
    path("bounces/<str:token>/", bounces.bounces, name="bounces"),
    path("mail/", kept_mail.kept_mails, name="kept-mails"),
    path("mail/<int:pk>/", kept_mail.kept_mail, name="kept-mail"),
    path("mail/<int:pk>/html/", kept_mail.kept_mail_html, name="kept-mail-html"),
]
