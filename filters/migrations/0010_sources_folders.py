# Folders, their sync states and access tokens get the names that mail servers' standards use.

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('filters', '0009_vocabulary'),
    ]

    operations = [
        migrations.RemoveConstraint(model_name='place', name='place_once'),
        migrations.RenameModel('Place', 'Folder'),
        migrations.RenameField('folder', 'remembered', 'sync_state'),
        migrations.RenameField('folder', 'looked_at', 'checked_at'),
        migrations.AlterField(
            model_name='folder',
            name='source',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='folders', to='filters.source'),
        ),
        migrations.AddConstraint(
            model_name='folder',
            constraint=models.UniqueConstraint(fields=('source', 'name'), name='folder_once'),
        ),
        migrations.RenameField('source', 'places', 'folder_patterns'),
        migrations.RenameField('source', 'client', 'client_id'),
        migrations.RenameField('source', 'renewed', 'access_token'),
        migrations.RenameField('source', 'renewed_until', 'access_token_until'),
    ]
