"""Filters have a title, written as people like; those that are there are called as before."""

from django.db import migrations, models
from django.db.models import F

import filters.models.filter


def name_titles(apps, schema_editor):
    """Give every filter its name as its title."""
    apps.get_model("filters", "Filter").objects.filter(title="").update(title=F("name"))


class Migration(migrations.Migration):
    dependencies = [("filters", "0023_publish_permission")]

    operations = [
        migrations.AddField(
            model_name="filter",
            name="title",
            field=models.CharField(
                blank=True,
                default="",
                max_length=100,
                validators=[filters.models.filter.filter_title],
            ),
        ),
        migrations.AlterField(
            model_name="filter",
            name="name",
            field=models.CharField(
                max_length=60, validators=[filters.models.filter.filter_name]
            ),
        ),
        migrations.RunPython(name_titles, migrations.RunPython.noop),
    ]
