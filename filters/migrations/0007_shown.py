"""What is shown of filters that refer to others: their text, until they are next understood."""

from django.db import migrations, models
from django.db.models import F


def show_texts(apps, schema_editor):
    """Show the text of every filter that refers to others, also as the reason of its matches."""
    filters = apps.get_model("filters", "Filter").objects.filter(references__isnull=False)
    matches, rests = (apps.get_model("filters", name) for name in ("Match", "Rest"))
    for held in filters.distinct().iterator(chunk_size=500):
        matches.objects.filter(filter=held).update(reason="")
        rests.objects.filter(filter=held).update(reason=held.text)
    keys = apps.get_model("filters", "Reference").objects.values("filter")
    apps.get_model("filters", "Filter").objects.filter(pk__in=keys).update(
        phrase="", shown=F("text")
    )


class Migration(migrations.Migration):
    dependencies = [("filters", "0006_joint")]

    operations = [
        migrations.AddField("filter", "shown", models.TextField(blank=True, default="")),
        migrations.AddField("rest", "reason", models.TextField(blank=True, default="")),
        migrations.RunPython(show_texts, migrations.RunPython.noop),
    ]
