"""When matches are shown: people's defaults, quiet hours and holidays; matches that are held.

Filters keep the timeliness that they have; new ones have their owner's.
"""

from django.core.validators import MaxValueValidator
from django.db import migrations, models

from filters.models.account import validate_timeliness


def minute():
    validators = [MaxValueValidator(24 * 60 - 1)]
    return models.PositiveSmallIntegerField(blank=True, null=True, validators=validators)


def timeliness(**options):
    return models.CharField(max_length=60, validators=[validate_timeliness], **options)


class Migration(migrations.Migration):
    dependencies = [("filters", "0016_imports")]

    operations = [
        migrations.AddField("profile", "timeliness", timeliness(default="at once")),
        migrations.AddField("profile", "quiet_from", minute()),
        migrations.AddField("profile", "quiet_to", minute()),
        migrations.AddField(
            "profile", "holiday_until", models.DateField(blank=True, null=True)
        ),
        migrations.AlterField("filter", "timeliness", timeliness(blank=True, default="")),
        migrations.AddField(
            "filter",
            "while_unread",
            models.BooleanField("not while it has unread ones", default=False),
        ),
        migrations.AddIndex(
            "match",
            models.Index(
                fields=["filter"], condition=models.Q(shown_at=2**62), name="match_held"
            ),
        ),
    ]
