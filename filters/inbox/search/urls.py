"""Addresses of search."""

from django.urls import path

from filters.inbox.search import views

urlpatterns = [
    path("search/", views.search, name="search"),
    path("search/complete/", views.completions, name="search-complete"),
    path("search/forget/", views.forget, name="search-forget"),
    path("search/select/", views.select, name="search-select"),
    path("search/<uuid:task>/", views.result, name="search-result"),
]
