"""Addresses of the operator's pages."""

from django.urls import path

from filters.runs.operator import invitations, set_aside, views

urlpatterns = [
    path("operator/", views.operator, name="operator"),
    path("operator/groups/", views.evaluation_groups, name="evaluation-groups"),
    path("operator/set-aside/<int:pk>/", set_aside.fault, name="set-aside"),
    path("operator/invitations/", invitations.invite, name="invitations"),
]
