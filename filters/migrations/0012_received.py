"""Ages are counted from when mail was received: filters with an age begin again.

They find what they would have found had it always been so; what they delivered before stays, and
is not delivered again.
"""

from django.db import migrations
from django.db.models import F, Q
from django.db.models.functions import Coalesce

BEGINNING = -(2**62)

AGES = r"(old|older|newer|today|week|for)([^a-z]|$)"
"""Words of the phrases with an age."""

OTHERS = r"(in filter |'s |m in |m not in )"
"""Words of a reference to another filter, which may have an age."""


def begin_again(apps, schema_editor):
    window = apps.get_model("filters", "SharedWindow").objects.filter(pk=1).first()
    if window is None:
        return
    filters = apps.get_model("filters", "Filter").objects
    aged = filters.filter(Q(text__iregex=AGES) | Q(text__iregex=OTHERS))
    if window.since is not None:
        aged.filter(enrolled=True).update(since=window.since, ran_at=window.ran_at)
    ended = Q(active=False, end__isnull=False, since__gte=F("end"))
    aged.update(enrolled=False, revision=F("revision") + 1)
    aged.exclude(ended).update(since=Coalesce(F("start"), BEGINNING), proven=False)


class Migration(migrations.Migration):
    dependencies = [("filters", "0011_proven")]

    operations = [migrations.RunPython(begin_again, migrations.RunPython.noop)]
