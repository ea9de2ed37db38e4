"""Addresses of the operator's pages."""

from django.urls import path

from filters.operator import invitations, views

urlpatterns = [
    path("operator/", views.operator, name="operator"),
    path("operator/groups/", views.evaluation_groups, name="evaluation-groups"),
    path("operator/invitations/", invitations.invite, name="invitations"),
]
