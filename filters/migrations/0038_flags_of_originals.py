"""No change of the database: the command that applies it brings the tables up to date, too.

Originals have the column ``flags`` from now on (tapestry.tables.upgrade).
"""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('filters', '0037_return_paths'),
    ]

    operations = []
