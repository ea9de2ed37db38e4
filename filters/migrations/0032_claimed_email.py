from django.db import migrations, models


def note_claims(apps, schema_editor):
    """Note the addresses of accounts that are not proven: their people may have written them."""
    Profile = apps.get_model("filters", "Profile")
    rows = apps.get_model("filters", "Address").objects.exclude(owner__email="")
    open_rows = rows.exclude(confirmed_at__isnull=False, proven=True)
    same = open_rows.filter(email__iexact=models.F("owner__email"))
    for owner, email in list(same.values_list("owner", "owner__email")):
        Profile.objects.update_or_create(user_id=owner, defaults={"claimed_email": email})


class Migration(migrations.Migration):

    dependencies = [("filters", "0031_appraisal")]

    operations = [
        migrations.AddField(
            model_name="profile",
            name="claimed_email",
            field=models.EmailField(blank=True, default="", editable=False, max_length=254),
        ),
        migrations.RunPython(note_claims, migrations.RunPython.noop),
    ]
