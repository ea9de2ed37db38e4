"""How much of a folder has been read, which appends were imports, and the cards of their mail."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("filters", "0015_begun_at")]

    operations = [
        migrations.AddField("folder", "reached", models.BigIntegerField(default=0)),
        migrations.AddField("folder", "total", models.BigIntegerField(blank=True, null=True)),
        migrations.CreateModel(
            name="Import",
            fields=[
                ("ts", models.BigIntegerField(primary_key=True, serialize=False)),
                ("name", models.TextField()),
            ],
        ),
        migrations.AddField("card", "imported", models.TextField(default="", blank=True)),
    ]
