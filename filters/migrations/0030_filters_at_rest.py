"""Filters that have failed, and those that are paused, are counted without reading the others."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("filters", "0028_people")]

    operations = [
        migrations.AddIndex(
            model_name="filter",
            index=models.Index(fields=["since"], condition=~Q(error=""), name="filter_failed"),
        ),
        migrations.AddIndex(
            model_name="filter",
            index=models.Index(fields=["id"], condition=Q(active=False), name="filter_paused"),
        ),
    ]
