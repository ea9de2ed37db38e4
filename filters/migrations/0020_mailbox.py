"""How far the mailbox of bounces has been read; own deliveries that a pull left out."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('filters', '0019_confirmation_mails'),
    ]

    operations = [
        migrations.CreateModel(
            name='BounceMailbox',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('address', models.TextField(blank=True, default='')),
                ('uidvalidity', models.BigIntegerField(default=0)),
                ('uid', models.BigIntegerField(default=0)),
                ('read_at', models.BigIntegerField(blank=True, null=True)),
                ('error', models.TextField(blank=True, default='')),
            ],
            options={
                'verbose_name_plural': 'bounce mailbox',
            },
        ),
        migrations.AddField(
            model_name='pull',
            name='skipped',
            field=models.IntegerField(default=0),
        ),
    ]
