"""Addresses of the inbox and of the lists of filters."""

from django.urls import include, path

from filters.inbox import past_views, views

urlpatterns = [
    path("", views.inbox, name="inbox"),
    path("by-importance/", views.inbox, {"by_importance": True}, name="inbox-by-importance"),
    path("as-of/", past_views.as_of, name="as-of"),
    path("in/<slug:name>/", views.inbox, name="filter"),
    path(
        "in/<slug:name>/by-importance/",
        views.inbox,
        {"by_importance": True},
        name="filter-by-importance",
    ),
    path("in/<slug:name>/gone/", views.inbox, {"retracted": True}, name="filter-retracted"),
    path("in/<slug:name>/show/", views.show_now, name="show-now"),
    path("first-steps/", views.show_first_steps, name="first-steps"),
    path("sidebar/", views.sidebar, name="sidebar"),
    path("unfold/", views.unfold, name="unfold"),
    path("fold/", views.fold, name="fold"),
    path("lines/", views.set_lines, name="set-lines"),
    path("", include("filters.inbox.triage.urls")),
    path("", include("filters.inbox.search.urls")),
    path("", include("filters.inbox.appraisers.urls")),
]
