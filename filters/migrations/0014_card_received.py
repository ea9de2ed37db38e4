"""Cards have when a message was received.

Until the next run copies it from the tables, it is the Date header, or the arrival where that is
missing or cannot be right.
"""

from django.db import migrations, models
from django.db.models import Case, F, When


def estimate(apps, schema_editor):
    plausible = When(date__gte=0, date__lte=F("ts"), then=F("date"))
    apps.get_model("filters", "Card").objects.update(received=Case(plausible, default=F("ts")))
    apps.get_model("filters", "Match").objects.update(refreshed_at=None)


class Migration(migrations.Migration):
    dependencies = [("filters", "0013_connection_security")]

    operations = [
        migrations.AddField(
            "card", "received", models.BigIntegerField(default=0), preserve_default=False
        ),
        migrations.RunPython(estimate, migrations.RunPython.noop),
    ]
