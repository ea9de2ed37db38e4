"""The names of tables, columns and indexes become the standard terms; the rows stay."""

from django.conf import settings
from django.db import migrations, models
from django.db.models import Q

MODELS = (
    ("FormerAudience", "RetiredName"),
    ("Pulse", "Heartbeat"),
    ("Joint", "SharedWindow"),
    ("Rest", "PendingWindow"),
    ("PendingAnnotation", "OutboxAnnotation"),
)

FIELDS = (
    ("filter", "shown", "display_tql"),
    ("filter", "joined", "enrolled"),
    ("pendingwindow", "reason", "explanation"),
    ("match", "reason", "explanation"),
    ("match", "because", "evidence_rows"),
    ("match", "found_at", "stored_at"),
    ("match", "told_at", "refreshed_at"),
    ("match", "gone_at", "retracted_at"),
)


def rename_permissions(apps, schema_editor):
    """Let administrators keep what they were permitted: permissions go by the model's name."""
    permissions = apps.get_model("auth", "Permission").objects
    for old, new in MODELS:
        for action in ("add", "change", "delete", "view"):
            permissions.filter(
                content_type__app_label="filters", codename=f"{action}_{old.lower()}"
            ).update(codename=f"{action}_{new.lower()}")


class Migration(migrations.Migration):
    dependencies = [
        ("filters", "0008_former_audience"),
        ("auth", "0012_alter_user_first_name_max_length"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveIndex("filter", "filter_apart"),
        migrations.RemoveIndex("match", "match_to_be_told"),
        *(migrations.RenameModel(old, new) for old, new in MODELS),
        *(migrations.RenameField(model, old, new) for model, old, new in FIELDS),
        migrations.AlterField(
            "pendingwindow",
            "filter",
            models.ForeignKey(
                on_delete=models.CASCADE, related_name="pending_windows", to="filters.filter"
            ),
        ),
        migrations.RenameIndex("outboxannotation", "outbox_pending", old_name="annotation_waits"),
        migrations.AddIndex(
            "filter",
            models.Index(
                fields=["since"],
                condition=Q(("active", True), ("enrolled", False)),
                name="filter_own_window",
            ),
        ),
        migrations.AddIndex(
            "match",
            models.Index(
                fields=["id"],
                condition=Q(("card", None), ("refreshed_at", None), _connector="OR"),
                name="match_stale",
            ),
        ),
        migrations.RunPython(rename_permissions, migrations.RunPython.noop),
    ]
