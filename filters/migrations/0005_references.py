"""Which filters those refer to that were written before references were stored."""

from django.db import migrations
from django.db.models import Q

LIKELY = Q(text__icontains="filter") | Q(text__contains="'s ") | Q(text__contains="’s ")
LIKELY |= Q(text__iregex=r"in\s")
"""Texts that may refer to a filter; of a million, the most need not be read again."""


def note_references(apps, schema_editor):
    """Read the filters that have no references yet, and store which filters they look for."""
    filters, references = apps.get_model("filters", "Filter"), apps.get_model("filters", "Reference")
    unknown = filters.objects.filter(LIKELY, references=None).select_related("owner")
    for held in unknown.iterator(chunk_size=500):
        sought = _sought(filters, held)
        references.objects.bulk_create(
            (
                references(filter=held, owner=owner[:150], name=name)
                for owner, name in sorted(sought)
                if len(name) <= 60
            ),
            ignore_conflicts=True,
        )


def _sought(filters, held):
    from tapestry.core.errors import TapestryError
    from tapestry.query.context import Context
    from tapestry.query.frontend import read

    asker = held.owner.username
    sought = set()

    def resolve(owner, name):
        whose = owner or asker
        sought.add((whose.lower(), name.lower()))
        found = filters.objects.filter(owner__username__iexact=whose, name__iexact=name)
        if whose.casefold() != asker.casefold():
            found = found.filter(visibility="shared")
        text = found.values_list("text", flat=True).first()
        if text is None:
            raise TapestryError(f"There is no filter {name}.")
        return text

    def addresses(name):
        return (f"{name}@localhost",)

    try:
        read(held.text, Context(asker, addresses(asker), resolve, addresses, held.name))
    except TapestryError:
        pass  # What it looked for before it failed is what a change may mend.
    return sought


class Migration(migrations.Migration):
    dependencies = [("filters", "0004_sources")]

    operations = [migrations.RunPython(note_references, migrations.RunPython.noop)]
