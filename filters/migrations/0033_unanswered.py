"""A letter that was handed to a server without an answer is known: it may have been sent."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("filters", "0032_claimed_email")]

    operations = [
        migrations.AddField(
            model_name="outgoingmessage",
            name="unanswered_at",
            field=models.BigIntegerField(blank=True, null=True),
        ),
    ]
