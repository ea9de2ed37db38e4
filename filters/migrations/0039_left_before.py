from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('filters', '0038_flags_of_originals'),
    ]

    operations = [
        migrations.AddField('match', 'left', models.JSONField(blank=True, default=dict)),
    ]
