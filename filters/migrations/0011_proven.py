"""Whether the last run of a filter by itself took little time: what is enrolled has shown that."""

from django.db import migrations, models
from django.db.models import F


def prove_enrolled(apps, schema_editor):
    apps.get_model("filters", "Filter").objects.update(proven=F("enrolled"))


class Migration(migrations.Migration):
    dependencies = [("filters", "0010_sources_folders")]

    operations = [
        migrations.AddField(
            model_name="filter",
            name="proven",
            field=models.BooleanField(default=False, editable=False),
        ),
        migrations.RunPython(prove_enrolled, migrations.RunPython.noop),
    ]
