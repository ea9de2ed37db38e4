from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("filters", "0041_dead_letters")]

    operations = [
        migrations.AddField(
            model_name="address",
            name="confirmed_here",
            field=models.BooleanField(default=False),
        ),
    ]
