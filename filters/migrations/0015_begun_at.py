"""Filters know where the clock stood when their windows began."""

from django.db import migrations, models

BEGINNING = -(2**62)


def begin_now(apps, schema_editor):
    """Let filters that have not been run yet begin at the present."""
    clock = apps.get_model("filters", "Clock").objects.first()
    if clock is not None:
        apps.get_model("filters", "Filter").objects.filter(since=BEGINNING).update(
            begun_at=clock.last
        )


class Migration(migrations.Migration):
    dependencies = [("filters", "0014_card_received")]

    operations = [
        migrations.AddField(
            "filter", "begun_at", models.BigIntegerField(default=BEGINNING, editable=False)
        ),
        migrations.RunPython(begin_now, migrations.RunPython.noop),
    ]
