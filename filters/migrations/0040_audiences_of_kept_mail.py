from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('filters', '0039_left_before'),
    ]

    operations = [
        migrations.AddField('keptmail', 'audiences', models.TextField(blank=True, default='')),
    ]
