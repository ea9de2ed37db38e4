"""Administration pages of the state of the installation."""

from __future__ import annotations

from django.contrib import admin

from filters.runs.models import Alarm, Clock, Heartbeat, ReleaseCounter, SharedWindow
from filters.site.admin_pages import OnlyShown

admin.site.register([Alarm, Clock, SharedWindow, ReleaseCounter, Heartbeat], OnlyShown)
