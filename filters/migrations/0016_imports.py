"""How much of a folder has been read."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("filters", "0015_begun_at")]

    operations = [
        migrations.AddField("folder", "reached", models.BigIntegerField(default=0)),
        migrations.AddField("folder", "total", models.BigIntegerField(blank=True, null=True)),
    ]
