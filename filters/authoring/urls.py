"""Addresses of the pages on which filters are written and listed."""

from django.urls import include, path

from filters.authoring.views import (
    acts,
    aggregates,
    editor,
    filter_list,
    importing,
    like,
    reminders,
    results,
    why,
)

urlpatterns = [
    path("aggregates/", aggregates.aggregates, name="aggregates"),
    path("filters/", filter_list.filter_list, name="filters"),
    path("filters/ready-made/", filter_list.add_ready_made, name="add-ready-made"),
    path("filters/remind/", reminders.remind, name="remind"),
    path("filters/new/", editor.write, name="new-filter"),
    path("filters/import/", importing.choose, name="import-filters"),
    path("filters/import/<uuid:task>/", importing.read, name="import-read"),
    path("filters/import/create/", importing.create, name="create-imported"),
    path("filters/import/create/<uuid:task>/", importing.created, name="import-created"),
    path("filters/export/", importing.export, name="export-filters"),
    path("filters/like/", like.like, name="filter-like"),
    path("filters/why/", why.why, name="why"),
    path("filters/understand/", editor.understand, name="understand"),
    path("filters/complete/", editor.completions, name="complete"),
    path("filters/preview/", editor.preview, name="preview"),
    path("filters/preview/all/", results.all_results, name="preview-all"),
    path("filters/backtest/", results.backtest, name="backtest"),
    path("filters/preview/<uuid:task>/", editor.preview_result, name="preview-result"),
    path("filter/<slug:name>/preview/", editor.preview_of_filter, name="filter-preview"),
    path("filters/dry-run/", results.dry_run, name="dry-run"),
    path("filter/<slug:name>/acts/", acts.acts, name="filter-acts"),
    path("filter/<slug:name>/edit/", editor.write, name="edit-filter"),
    path("filter/<slug:name>/pause/", filter_list.pause, name="pause-filter"),
    path("filter/<slug:name>/resume/", filter_list.resume, name="resume-filter"),
    path("filter/<slug:name>/delete/", filter_list.delete, name="delete-filter"),
    path("", include("filters.authoring.sharing.urls")),
]
