"""Words of importance in templates."""

from __future__ import annotations

from django import template

from filters.inbox.appraisal import scores

register = template.Library()
register.filter("signed", scores.signed)
