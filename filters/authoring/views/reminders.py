"""Reminders of one's own messages that nobody has answered."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from filters.authoring import reminders
from filters.inbox.lists.cards import CopyKey
from filters.inbox.triage.snoozing import read_moment
from filters.inbox.triage.views.answers import refused
from filters.people.requests import PersonRequest
from filters.reading import reading
from filters.reading.tasks import append_soon
from filters.site.templatetags.mail import message_address, time_words
from filters.site.work.toast import TOAST, Toast
from tapestry.core.errors import TapestryError

NEVER, SETTLED = "never", "settled"
"""What a form says of ``until`` beside the moments for which a message may be snoozed."""


@require_POST
def remind(request: PersonRequest) -> HttpResponse:
    """Remind of the message ``id``, of its copy for ``in``, ``until`` then, or not any more.

    It comes back again ``every`` so many days.  404 if it is not there, or not theirs to see; 400
    in words without a time to come.
    """
    msgid, until = request.POST.get("id", ""), request.POST.get("until", "")
    visible = reading.find(request.user, msgid, request.POST.get("in"))
    if not visible:
        raise Http404("There is no such message, or you may not see it.")
    message = CopyKey(msgid, visible[0].audience)
    if until in (NEVER, SETTLED):
        reminders.forget(request.user, message, settled=until == SETTLED)
        words = "No answer is waited for." if until == SETTLED else "There is no reminder any more."
    else:
        try:
            instant = read_moment(request.user, until, request.POST.get("chosen", ""))
            every = reminders.read_every(request.POST.get("every", ""))
            reminders.remind(request.user, message, instant, every)
        except TapestryError as error:
            return refused(request, error.sentences)
        again = f", and {reminders.EVERY[every]} from then on" if every else ""
        words = f"It comes back {time_words(instant)}{again}, unless somebody answers."
    append_soon()
    request.session[TOAST] = Toast(words=words)
    return redirect(message_address(message.msgid, message.audience))
