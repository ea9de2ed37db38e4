"""Data of older installations, brought to what is kept now."""

from __future__ import annotations

import importlib

import pytest
from django.apps import apps
from django.contrib.auth.models import User

from filters.authoring import lifecycle
from filters.models import Filter, Match, Reference


def test_filters_that_were_never_edited_get_their_references(bob: User, carol: User) -> None:
    lifecycle.install(bob, "about cricket", name="sport", visibility="shared")
    lifecycle.install(carol, "from filter", name="plain")
    lifecycle.install(carol, "in bob's sport and to me", name="hers")
    lifecycle.install(carol, "m IN hers AND m.subject HAS 'x'", name="narrow")
    gone = lifecycle.install(carol, "in filter narrow", name="gone")
    Filter.objects.filter(pk=gone.pk).update(text="in filter lost")
    Reference.objects.all().delete()
    step = importlib.import_module("filters.migrations.0005_references")
    step.note_references(apps, None)
    step.note_references(apps, None)
    found = Reference.objects.values_list("filter__name", "owner", "name")
    assert set(found) == {
        ("hers", "bob", "sport"),
        ("narrow", "carol", "hers"),
        ("narrow", "bob", "sport"),
        ("gone", "carol", "lost"),
    }
    assert len(found) == 4


def test_filters_that_refer_to_others_are_shown_as_they_were_written(bob: User) -> None:
    lifecycle.install(bob, "about cricket", name="sport")
    made = lifecycle.install(bob, "m IN sport", name="hers")
    found = {"matched_at": 0, "found_at": 0, "shown_at": 0, "reason": "about cricket"}
    Match.objects.create(filter=made, msgid="m@x", audience="public", **found)
    step = importlib.import_module("filters.migrations.0007_shown")
    step.show_texts(apps, None)
    made.refresh_from_db()
    assert (made.shown_text, made.matches.get().reason) == ("m IN sport", "")
    assert Filter.objects.get(name="sport").shown == ""


@pytest.mark.django_db
def test_the_models_need_no_other_migration() -> None:
    from django.core.management import call_command

    call_command("makemigrations", "--check", "--dry-run", verbosity=0)
