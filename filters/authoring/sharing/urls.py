"""Addresses of the filters that others share."""

from django.urls import path

from filters.authoring.sharing import views

urlpatterns = [
    path("shared/", views.shared_filters, name="shared-filters"),
    path("shared/follow/", views.follow, name="follow"),
]
