# Sources: where mail is pulled from.

import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('filters', '0003_live'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Source',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('imap', 'a mailbox (IMAP)'), ('nntp', 'news (NNTP)')], max_length=10)),
                ('host', models.CharField(max_length=253)),
                ('port', models.IntegerField(validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(65535)])),
                ('security', models.CharField(choices=[('tls', 'TLS'), ('starttls', 'STARTTLS'), ('none', 'nothing')], default='tls', max_length=10)),
                ('user', models.CharField(blank=True, default='', max_length=254)),
                ('method', models.CharField(choices=[('password', 'a password or an app password'), ('xoauth2', 'a token (XOAUTH2)')], default='password', max_length=10)),
                ('secret', models.TextField(blank=True, default='')),
                ('token_url', models.URLField(blank=True, default='')),
                ('client', models.CharField(blank=True, default='', max_length=200)),
                ('renewed', models.TextField(blank=True, default='')),
                ('renewed_until', models.BigIntegerField(default=0)),
                ('audience', models.CharField(max_length=200)),
                ('places', models.JSONField(blank=True, default=list)),
                ('every', models.IntegerField(default=60, validators=[django.core.validators.MinValueValidator(10)])),
                ('active', models.BooleanField(default=False)),
                ('due_at', models.BigIntegerField(default=0)),
                ('failures', models.IntegerField(default=0)),
                ('error', models.TextField(blank=True, default='')),
                ('hint', models.TextField(blank=True, default='')),
                ('pulled_at', models.BigIntegerField(blank=True, null=True)),
                ('listened_at', models.BigIntegerField(blank=True, null=True)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sources', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['host', 'user', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='Pull',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('started_at', models.BigIntegerField()),
                ('ended_at', models.BigIntegerField()),
                ('read', models.IntegerField(default=0)),
                ('added', models.IntegerField(default=0)),
                ('duplicates', models.IntegerField(default=0)),
                ('broken', models.IntegerField(default=0)),
                ('error', models.TextField(blank=True, default='')),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pulls', to='filters.source')),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='Place',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=500)),
                ('remembered', models.JSONField(blank=True, default=dict)),
                ('read', models.BigIntegerField(default=0)),
                ('added', models.BigIntegerField(default=0)),
                ('looked_at', models.BigIntegerField(blank=True, null=True)),
                ('added_at', models.BigIntegerField(blank=True, null=True)),
                ('error', models.TextField(blank=True, default='')),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='found', to='filters.source')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.AddIndex(
            model_name='source',
            index=models.Index(condition=models.Q(('active', True)), fields=['due_at'], name='source_due'),
        ),
        migrations.AddIndex(
            model_name='pull',
            index=models.Index(fields=['source', '-id'], name='pull_latest'),
        ),
        migrations.AddConstraint(
            model_name='place',
            constraint=models.UniqueConstraint(fields=('source', 'name'), name='place_once'),
        ),
    ]
