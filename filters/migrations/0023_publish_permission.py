"""Publishing is a permission; who has a source of mail for others keeps on publishing."""

from django.conf import settings
from django.db import migrations


def grant_to_publishers(apps, schema_editor):
    """Give the permission to the owners of sources whose mail is for others than themselves."""
    ContentType = apps.get_model("contenttypes", "ContentType")
    Permission = apps.get_model("auth", "Permission")
    Source = apps.get_model("filters", "Source")
    content_type, _ = ContentType.objects.get_or_create(app_label="filters", model="source")
    publish, _ = Permission.objects.get_or_create(
        content_type=content_type,
        codename="publish",
        defaults={"name": "Can publish mail to everybody and to groups, by sources"},
    )
    sources = Source.objects.exclude(audience__startswith="user:").select_related("owner")
    for owner in {source.owner for source in sources}:
        owner.user_permissions.add(publish)


class Migration(migrations.Migration):
    dependencies = [
        ("filters", "0022_trials"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="source",
            options={
                "ordering": ["host", "user", "pk"],
                "permissions": [
                    ("publish", "Can publish mail to everybody and to groups, by sources")
                ],
            },
        ),
        migrations.RunPython(grant_to_publishers, migrations.RunPython.noop),
    ]
