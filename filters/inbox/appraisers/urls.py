"""Addresses of the rules of importance."""

from django.urls import path

from filters.inbox.appraisers import views

urlpatterns = [
    path("importance/", views.rules, name="appraiser-rules"),
    path("importance/<int:pk>/weigh/", views.weigh, name="weigh-rule"),
    path("importance/<int:pk>/move/", views.move, name="move-rule"),
    path("importance/<int:pk>/remove/", views.remove, name="remove-rule"),
]
