"""What is known of a folder belongs to its account and audience, not to one source."""

from __future__ import annotations

import json
import re

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

_OWNER = re.compile(r"(.*?:\d+)@(.*)", re.DOTALL)
"""The URL of an account, which ends with its port, and an audience."""


def move(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    folders, left = (apps.get_model("filters", name) for name in ("Folder", "DeadLetters"))
    for folder in folders.objects.order_by("pk"):
        state = {name: value for name, value in folder.sync_state.items() if name != "of"}
        _store(apps, folder.sync_state.get("of", ""), folder.name, state)
    for dead in left.objects.order_by("pk"):
        _store(apps, dead.owner, dead.folder, {"withheld": dead.unavailable})


def _store(apps: Apps, owner: str, folder: str, state: dict) -> None:
    named = _OWNER.fullmatch(owner)
    if named is None or not state:
        return
    states = apps.get_model("filters", "SyncState").objects
    row, made = states.get_or_create(
        account=named[1], audience=named[2], folder=folder, defaults={"state": state}
    )
    if not made:  # of two sources the first decides, and what is missing is that of both
        merged, other = (
            json.loads(stored.get("text", "null")) or stored for stored in (row.state, state)
        )
        withheld, more = merged.get("withheld"), other.get("withheld")
        if more and withheld and more["numbering"] == withheld["numbering"]:
            withheld["missing"] = more["missing"] | withheld["missing"]
        elif more and not withheld:
            merged["withheld"] = more
        row.state = merged if "text" not in row.state else {"text": json.dumps(merged)}
        row.save()


class Migration(migrations.Migration):
    dependencies = [("filters", "0042_confirmed_here")]

    operations = [
        migrations.CreateModel(
            name="SyncState",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("account", models.TextField()),
                ("audience", models.CharField(max_length=200)),
                ("folder", models.CharField(max_length=500)),
                ("state", models.JSONField(default=dict)),
            ],
        ),
        migrations.AddConstraint(
            model_name="syncstate",
            constraint=models.UniqueConstraint(
                fields=("audience", "account", "folder"), name="sync_state_once"
            ),
        ),
        migrations.RunPython(move, migrations.RunPython.noop),
        migrations.DeleteModel(name="DeadLetters"),
        migrations.RemoveField(model_name="folder", name="sync_state"),
    ]
