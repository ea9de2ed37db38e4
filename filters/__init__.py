"""The Django application: people, their filters, and what matched; an app for each feature.

    upkeep > imap : jmap > api > compose > delivery > authoring > inbox : reading : sources > runs >
        people > site

An app imports only those to its right, and the ``models`` of all (`make lint`).  Each has its own
``models``, ``admin``, ``urls``, ``tasks`` and ``migrations`` as far as it needs them, and its
templates in ``templates/<app>``; its line in ``INSTALLED_APPS`` is the only list of apps.  The
address of a page need not name its app: ``me/tokens/`` is of ``api``.

- ``people``: accounts, signing in, second factors, sessions; ``membership``: coming and going
- ``sources``: mailboxes, news, contacts and calendars, folders, trials, finding servers, OAuth2
- ``authoring``: filters as they are written, previewed, imported, shared
- ``inbox``: matches and cards: lists, triage, importance, search
- ``reading``: a message, its conversation, what people say of it
- ``compose``: drafts, the outbox
- ``delivery``: destinations, ways, claims, bounces, feeds
- ``runs``: lanes and rounds; ``store`` implements the ports of ``tapestry.core``; ``operator``
- ``api``: the REST API, and the tokens by which programs use it
- ``imap``, ``jmap``: lists as mailboxes, for mail programs
- ``upkeep``: backup, check, forgetting, retention
- ``sample``: the mail and the people of the demo; no app, and imported by its command alone
- ``site``: ``settings``, ``work`` (what this process runs beside), ``web``, ``launch``, commands

Above all apps stand ``people.membership``, ``inbox.search``, ``runs.rounds``, ``runs.operator``,
``site.web``, ``site.launch`` and ``site.management``: they know every app, and none but ``upkeep``
knows them.
"""
