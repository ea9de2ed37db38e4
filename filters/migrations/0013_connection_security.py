"""The security of a connection that nothing secures is called “none”."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("filters", "0012_received")]

    operations = [
        migrations.AlterField(
            model_name="source",
            name="security",
            field=models.CharField(
                choices=[("tls", "TLS"), ("starttls", "STARTTLS"), ("none", "none")],
                default="tls",
                max_length=10,
            ),
        ),
    ]
