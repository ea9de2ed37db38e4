"""Requests in people's own words, and the phrase that each means."""

import pytest

from tapestry.core.errors import TapestryError
from tapestry.query.frontend import read
from tapestry.query.phrases.wordings.rewording import reworded
from tapestry.query.phrases.wordings.rules import RULES
from tests.query.phrases.test_requests import TERRY

REQUESTS = {
    "women's documents": "mentioning women's mentioning documents",
    "patches reviewed by someone": "patch series with a review",
    "messages tagged by anyone but me": None,
    "reviewed by anyone except bob": None,
    "tagged by anyone": "not without a tag",
    "tagged urgent by someone": "tagged urgent",
    "messages alice read but did not answer": None,
    "messages assigned to me": None,
    "something kate sent me": "from kate to me",
    "threads where bob replied late": None,
    "stuff on comp.databases older than a month": "in comp.databases and one month old",
    "questions on comp.lang.c that nobody answered": (
        "asking a question in comp.lang.c with no reply"
    ),
    "waiting for reply more than a week": "one week old with no reply",
    "waiting for a reply from anna for two weeks": (
        "from me to anna two weeks old with no reply by anna"
    ),
    "new people writing to me": "from new senders and to me",
    "omar never replied to me": "from me to omar with no reply by omar",
    "omar hasn't answered me in a week": "from me to omar one week old with no reply by omar",
    "mails omar never replied to": "with no reply by omar",
    "anna's photos": "from anna with pictures",
    "bob's pdfs about tax": "from bob with pdf files about tax",
    "anna's attachments": "from anna with attachments",
    "everyone except bob": "not from bob",
    "everybody but bob or carol": "not from bob or carol",
    "lists other than dev": "on any list not on list dev",
    "newsgroups other than comp.databases": "in any newsgroup not in comp.databases",
    "patches reviewed by nobody": "patch series with no review",
    "tagged urgent by nobody": "not tagged urgent",
    "from nobody": 'from "nobody"',
    "with no reply by nobody": None,
    "no annotations": "without an annotation",
    "mails without annotations from bob": "without an annotation from bob",
    "posts that nobody annotated": "without an annotation",
    "in comp.databases but with no annotation": "in comp.databases and without an annotation",
    "annotated by anyone": "not without an annotation",
    "posts with over 10 votes": "voted for by more than 10 people",
    "more than 2 but fewer than 5 votes": (
        "voted for by more than 2 people and not voted for by more than 4 people"
    ),
    "with many votes": "voted for by more than 5 people",
    "3 likes or more": "voted for by more than two people",
    "at least 3 downvotes": "voted against by more than two people",
    "more than 3 votes against from bob": "voted against by more than 3 people and from bob",
    "less than 2 votes": "not voted for by more than one person",
    "at most 3 votes from joe": "not voted for by more than 3 people and from joe",
    "no fewer than 2 votes": "voted for by more than one person",
    "two replies or more, none from carol": "with at least 2 replies and with no reply by carol",
    "no attachments unless from anna": "not with attachments or from anna",
    "threads begun by mary in which joe never wrote": (
        "starting a thread and from mary and not in a thread with joe"
    ),
    "nobody replied to this in 3 days": "3 days old with no reply",
    "mary asked me something": "from mary to me asking a question",
    "mails that i voted up": "voted for by me",
    "messages to the dev list with patches": "on list dev with a patch",
    "with at least 2 replies by bob but not by joe": (
        "with at least 2 replies by bob and not with at least 2 replies by joe"
    ),
    "with more than half of the replies by bob but not by joe": (
        "with more than half of the replies by bob and not with more than half of the replies by "
        "joe"
    ),
    "threads where bob wrote at least 3 times": "in a thread with at least 3 messages by bob",
    "threads in which i wrote more than 5 mails": "in a thread with at least 6 messages by me",
    "threads with 2 or more mails from anna": "in a thread with at least 2 messages by anna",
    "dave wrote in the thread twice or more": "in a thread with at least 2 messages by dave",
    "bob answered more than once": "with at least 2 replies by bob",
    "mails mary answered at least twice": "with at least 2 replies by mary",
    "bob replied exactly once": (
        "with at least 1 reply by bob and not with at least 2 replies by bob"
    ),
    "more than 3 replies from mary about lunch": "with at least 4 replies by mary about lunch",
    "at most one reply by carol": "not with at least 2 replies by carol",
    "everything except patches": "not with a patch",
    "everything but pictures": "not with pictures",
    "on the dev list but not patches and not from joe": (
        "on list dev and not with a patch and not from joe"
    ),
    "with 2 or more attachments but no pdf": "with at least 2 attachments and not with pdf files",
    "all lists except announce": "on any list and not on list announce",
    "threads of more than 5 people without dave": (
        "starting a thread in a thread of more than 5 people and not in a thread with dave"
    ),
    "threads with mary in them": "in a thread with mary",
    "tagged by mary as urgent": "tagged urgent by mary",
    "mails without attachments or links": "not with attachments and not with links",
    "mail dave forwarded to me": (
        'from dave to me (with a subject starting with "fwd:" or with a subject starting with '
        '"fw:")'
    ),
    "mail i forwarded to alice about lunch": (
        'from me to alice (with a subject starting with "fwd:" or with a subject starting with '
        '"fw:") about lunch'
    ),
    "from carol today or on 17 March 2026 about skiing": (
        "from carol and (newer than one day or on 17 March 2026) and about skiing"
    ),
    "from carol today or on 17 March 2026 from joe": (
        "from carol and newer than one day or on 17 March 2026 and from joe"
    ),
    "from joe today or on 17 March 2026": ("from joe and (newer than one day or on 17 March 2026)"),
    "today from joe or since monday": "from joe and (newer than one day or since 16 March 2026)",
    "from bob between 1 and 15 february or in january": (
        "from bob and (since 1 February 2026 and until 15 February 2026 or in January 2026)"
    ),
    "today from joe or since monday from mary": (
        "newer than one day and from joe or since 16 March 2026 and from mary"
    ),
    "cc bob or carol but not dave": "(cc bob or cc carol) and not cc dave",
    "to bob but not me": "to bob and not to me",
    "voted for by bob or mary but not me": (
        "(voted for by bob or voted for by mary) and not voted for by me"
    ),
    "from bob but not me": "from bob and not from me",
    "mail that mentions me but isn't addressed to me": "mentioning me and not to me",
    "no later than 1 march from carol": "until 1 March 2026 and from carol",
    "not earlier than monday from carol": "since 16 March 2026 and from carol",
    "mails from january or february about taxes": (
        "(in January 2026 or in February 2026) and about taxes"
    ),
    "mails from mary on 3 or 4 march": "from mary and (on 3 March 2026 or on 4 March 2026)",
    "between 5 and 10 mb with attachments": (
        "larger than 5 MB and smaller than 10 MB and with attachments"
    ),
    "mail from alice or bob about the budget but not the forecast": (
        "(from alice or from bob) and about budget and not mentioning forecast"
    ),
    "mail from alice but no newsletter": "from alice and not mentioning newsletter",
    "has joe or mary answered my mail": "replies to me and (from joe or from mary)",
    "replies by joe to mary's mail this week": (
        "replies to mary and replies by joe and newer than one week"
    ),
    "haven't heard back from alice in 2 weeks": (
        "from me and to alice and two weeks old and with no reply by alice"
    ),
    "from alice to bob, me in cc": "from alice and to bob and cc me",
    "top 5 most discussed this month": "among the top five by replies this month",
    "mail every monday from dave": None,
    "conversations with kenji not finished": None,
    "today or on 17 March 2026 from joe": ("(newer than one day or on 17 March 2026) and from joe"),
    "today or from joe about lunch": "newer than one day or from joe and about lunch",
    "only cc'd to me": "cc me and not directly to me",
    "only cc me this week": "cc me and not directly to me and newer than one week",
    "voted up but not by me": "with a score above 0 and not voted for by me",
    "last mail from joe": "among the latest one from joe",
    "my latest message": "among the latest one from me",
    "my last mail to joe": None,
    "latest message from mary about router": None,
    "newest mail with attachments from bob": None,
    "last post from joe today": None,
    "automatic replies": "from programs and replies",
    "from joe but not automatic replies": "from joe and not (from programs and replies)",
    "everything that isn't from joe, mary or bob": "not (from joe or from mary or from bob)",
    "mails from mary unless joe is copied": "from mary and not cc joe",
    "from joe but only if mary is not in cc": "from joe and not cc mary",
    "everything from parc.com except what dave sends": "from @parc.com and not from dave",
    "no mail from joe unless it's about tax": "not from joe or about tax",
    "threads without any mail from bob": "not in a thread with bob",
    "threads neither joe nor i wrote in": "not in a thread with joe and not in a thread with me",
    "threads nobody from river.example took part in": "not in a thread with @river.example",
    "threads with no more than 3 people": (
        "starting a thread and not in a thread of more than three people"
    ),
    "mails that neither bob nor I answered": ("with no reply by bob and with no reply by me"),
    "mails I sent that carol did not answer but dave did": (
        "from me and with no reply by carol and replied to by dave"
    ),
    "tagged urgent by joe but not by me": "tagged urgent by joe and not tagged urgent by me",
    "tagged urgent or later but not done": "(tagged urgent or tagged later) and not tagged done",
    "more than 2 but no more than 6 replies": (
        "with more than two replies and with at most six replies"
    ),
    "fewer than 3 replies and more than 2 attachments": (
        "with fewer than three replies and with more than two attachments"
    ),
    "cc me, not to me, and not from joe": "cc me and not directly to me and not from joe",
    "threads with fewer than 4 people": (
        "starting a thread and not in a thread of more than three people"
    ),
    "mails from anyone at parc.com except alice and dave": (
        "from @parc.com and not (from alice or from dave)"
    ),
    "voted for by at least 3 people but not by me": (
        "voted for by more than two people and not voted for by me"
    ),
    "not tagged, not answered and not from a list": (
        "without a tag and with no reply and not on any list"
    ),
    "from dave, but nothing about parking": "from dave and not about parking",
    "mails with pictures or links unless from anna": (
        "(with pictures attached or with links) and not from anna"
    ),
    "everything from joe apart from replies": "from joe and not replies",
    "from bob except when alice is in cc": "from bob and not cc alice",
    "threads we have not taken part in": "not in a thread with me",
    "threads i am also involved in": "in a thread with me",
    "no fewer than 2 replies": "with at least two replies",
    "tagged urgent but not by joe": "tagged urgent and not tagged urgent by joe",
    "from joe or mary unless joe is copied": "(from joe or from mary) and not cc joe",
    "from joe or about tax except replies": "(from joe or about tax) and not replies",
    "with 2 or 3 attachments": "with at least two attachments and with at most three attachments",
    "mails answered at least twice": "with at least two replies",
    "voted for by joe and against by nobody": (
        "voted for by joe and not voted against by more than 0 people"
    ),
    "from alice or someone at parc.com": "from alice or from @parc.com",
    "all newsgroups but comp.misc": "in any newsgroup and not in comp.misc",
    "Emails I never answered": "with no reply by me",
    "mail that nobody has answered yet": "with no reply",
    "messages mary hasn't replied to": "with no reply by mary",
    "which of my sent mails got no response?": "from me and with no reply",
    "mails I sent 5 days ago that are still waiting for an answer": (
        "from me and on 13 March 2026 and with no reply"
    ),
    "sent mail with no reply after 5 days": "from me and five days old and with no reply",
    "what do I still need to answer": "to me and with no reply by me",
    "messages I need to reply to": "to me and with no reply by me",
    "who still owes me an answer": "from me and with no reply",
    "who am I waiting for": "from me and with no reply",
    "bob owes me a reply": "from me and to bob and with no reply by bob",
    "I still owe bob a reply": "from bob and to me and with no reply by me",
    "waiting for an answer from me": "with no reply by me",
    "show me all emails that Mary voted for": "voted for by Mary",
    "got voted down": "with a score below 0",
    "threads I took part in": "in a thread with me",
    "discussions in which mary participated": "in a thread with mary",
    "conversations that I started": "from me and starting a thread",
    "threads with more than 10 replies": "starting a thread of more than 10 replies",
    "threads with more than 10 messages": "starting a thread of more than 10",
    "first message of a thread by mary": "starting a thread and from mary",
    "mail sent only to me": "only to me",
    "sent directly to me": "directly to me",
    "I was cc'd": "cc me",
    "where I'm the only recipient": "only to me",
    "from people I never wrote to": "from unknown senders",
    "someone who never contacted me": "from new senders",
    "mail from someone in my contacts": "from contacts",
    "messages sent by people in my address book": "from contacts",
    "emails from anybody not in my contacts": "not from contacts",
    "from people who are not in my address book": "not from contacts",
    "mail from people I meet this week": "from people I meet within one week",
    "from somebody I meet today": "from people I meet within one day",
    "emails from anyone whom I meet within two days": "from people I meet within two days",
    "mail about an event that has been cancelled": "about cancelled events",
    "about canceled meetings": "about cancelled events",
    "about the cancelled flight": "about the cancelled flight",
    "hot discussions this week": "among the top ten by replies this week",
    "everything except newsgroups": "not in any newsgroup",
    "mail older than 6 months": "six months old",
    "2 weeks or older": "two weeks old",
    "sent between two and four days ago": "between two and four days old",
    "messages bigger than 2 megabytes": "larger than two MB",
    "with the word invoice in the subject": 'about "invoice"',
    "emails containing links": "with links",
    "unaswered mail older then two weeks": "with no reply and two weeks old",
    "mail newer then two weeks": "newer than two weeks",
    "mail between mary@x.org and joe@x.org": (
        "(from mary@x.org and to joe@x.org) or (from joe@x.org and to mary@x.org)"
    ),
    "lunch from mary": "mentioning lunch and from mary",
    "from my friend Anna": "from Anna",
    "mail from my account older than a week": "one week old",
    "mails that are not a reply to anything": "starting a thread",
    "messages sent on their own": "starting a thread",
    "emails I haven't tagged": "without a tag by me",
    "untagged by me": "without a tag by me",
    "noreply addresses": "from addresses like no-reply@* or from addresses like noreply@*",
    "mails with river.example in the address": (
        "from addresses like *river.example or to addresses like *river.example"
    ),
    "from joe and lunch in the subject": "from joe and about lunch",
    "calendar invitations from bob": "with invitations attached and from bob",
    "mails with a file whose name ends in docx": "with an attachment named like *.docx",
    "check my inbox": "newer than one day",
    "mail on any mailing list that was answered": "on any list and replied to",
    "newsletters unless they come from heise.de": "mentioning newsletters and not from @heise.de",
    "from mary unless it is about lunch": "from mary and not about lunch",
    "ignore mail from joe unless it's to me": "from joe and to me",
    "hide replies from mary": "not replies by mary",
    "search for the invoices": "mentioning invoices",
    "find recent invoices from mary": "mentioning recent and mentioning invoices and from mary",
    "contracts from legal@acme.io that have files attached": (
        "mentioning contracts and from legal@acme.io and with attachments"
    ),
    "everyone at x.org or y.com": "from @x.org or from @y.com",
    "everything from mary but not lunch": "from mary and not mentioning lunch",
    "what's new with the cooling system": 'mentioning "cooling system"',
    "posts in any comp group": "in comp.*",
    "bigger than 25mb": "larger than 25 MB",
    "bigger than 25\u212a": "larger than 25 KB",
    "the subject contains a question mark": 'with a subject like "*\\?*"',
    "subject is exactly 'Weekly report'": 'with a subject like "Weekly report"',
    "contains salary but not in the subject": "saying salary and not about salary",
    "if someone answers to my mails": None,
    "mail since yesterday 9:30": "since 17 March 2026 at 9:30",
    "mail after 3 March 2026 at 2 pm": "after 3 March 2026 at 14:00",
    "show all my mail": "everything",
    "mail after 6 pm on 3 March 2026": "after 3 March 2026 at 18:00",
    "subject doesn't contain lunch": "not about lunch",
    "title does not mention lunch": "not about lunch",
    "from contains alice": "from alice",
    "threads that bob has opened": "from bob and starting a thread",
    "mail from joe about the budget": "from joe and about budget",
    'mail about "the budget"': 'about "the budget"',
    "from ann except replies": "from ann and not replies",
    "messages to me that contain a link": "to me and with links",
    "which emails did alice send me about lunch": "from alice and to me and about lunch",
    "messages nobody voted for": "not voted for by more than 0 people",
    "mail that mary and joe voted for": "voted for by mary and voted for by joe",
    "messages bob tagged work": "tagged work by bob",
    "mails by alice which bob didn't answer": "from alice and with no reply by bob",
    "pictures sent to me by anna": "with pictures attached and to me and from anna",
    "anything from joe that isn't a reply": "from joe and not replies",
    "my unanswered mails": "from me and with no reply",
    "my threads with more than 5 replies": "from me starting a thread of more than five replies",
    "mail on any list except dev": "on any list and not on list dev",
    "anything but newsletters": "not mentioning newsletters",
    "everything about the move to the new office": 'about "move to the new office"',
    "threads john is part of": "in a thread with john",
    "last 50 messages in comp.lang.c": "among the latest 50 in comp.lang.c",
    "mail from january": "in January 2026",
    "last 10 messages from mary": "among the latest 10 from mary",
    "threads with at least 5 people": "starting a thread in a thread of more than four people",
    "threads with more than 4 participants": (
        "starting a thread in a thread of more than four people"
    ),
    "from anybody outside parc.com": "not from @parc.com",
    "answered by nobody": "with no reply",
    "mail answered by nobody from Mary": "with no reply and from Mary",
    "not answered by anyone": "with no reply",
    "sent by programs": "from programs",
    "from .edu addresses": "from addresses like *.edu",
    "to the domain example.org": "to @example.org",
    "messages with a .docx attachment": "with docx files attached",
    "less than 10 kb": "smaller than 10 kb",
    "sent directly to me, not via a list": "directly to me , not on any list",
    "from noreply addresses": ("(from addresses like no-reply@* or from addresses like noreply@*)"),
    "mail with an empty body": "without a body",
    "mails I should answer by friday": None,
    "subject contains urgent but body doesnt mention server": "about urgent and not saying server",
    "from somebody I dont know": "from unknown senders",
    "first time senders": "from new senders",
    "cc me but not to me": "cc me and not directly to me",
    "cc me but not to joe": "cc me and not to joe",
    "from alice unless cc to bob": "from alice and not cc bob",
    "anything new from bob?": "newer than one week and from bob",
    "all except those from bob or with attachments": "not (from bob or with attachments)",
    "find every message in which nobody but me has replied": "unanswered by others",
    "nobody replied except bob": None,
    "answered within 2 hours by support": None,
    "has anyone answered alice": "replies to alice",
    "have I replied to carol?": "replies to carol and from me",
    "what have I sent to dan since january": "from me and to dan and since January 2026",
    "bob has not replied within 3 days": "three days old and with no reply by bob",
    "mails of mine without answer after 5 days": "from me and five days old and with no reply",
    "not voted for by anyone": "not voted for by more than 0 people",
    "mail sent on monday between 9 and 5": (
        "since 16 March 2026 at 9:00 and until 16 March 2026 at 17:00"
    ),
    "between the 1st and 15th of march": "since 1 March 2026 and until 15 March 2026",
    "mail from 12.03.2024": "on 12 March 2024",
    "mail from 2024-03-12": "on 12 March 2024",
    "sometime in March 2024 from joe": "in March 2024 and from joe",
    "this morning's mail": "since today and until today at 12:00",
    "in comp.lang.* but not comp.lang.c": "in comp.lang.* and not in comp.lang.c",
    ">5mb": "larger than 5 MB",
    "*.pdf": 'with an attachment named like "*.pdf"',
    "5+ replies": "with at least 5 replies",
    ">= 5 replies": "with at least 5 replies",
    "mail with < 3 replies": "with fewer than 3 replies",
    "at least two people replied": None,
    "empty mails from bob": "without a body and from bob",
    "from lists": "on any list",
    "long threads I am not part of": (
        "starting a thread of more than ten and not in a thread with me"
    ),
    "joe or bob, both with attachments": (
        "(mentioning joe or mentioning bob) and with attachments"
    ),
    "mails sent by joe on fridays": None,
    "from outside my company": None,
    "started by joe, no reply by anna": "starting a thread and from joe and with no reply by anna",
    'subject has no "lunch"': "not about lunch",
    "filename contains report": "attachment named report",
    "from joe, attachments": None,
    "pictures sent by dad at easter": None,
    "patches that nobody is happy with": None,
    "between me and carol last year": None,
}
"""Requests, and the phrase that each means; None if it is refused."""


@pytest.mark.parametrize("request_", REQUESTS)
def test_a_request_means_a_phrase_or_is_refused(request_):
    meaning = REQUESTS[request_]
    if meaning is None:
        with pytest.raises(TapestryError):
            read(request_, TERRY)
        return
    query = read(request_, TERRY)
    assert query.phrase == read(meaning, TERRY).phrase
    assert query.lasting_text in (request_, query.phrase)


@pytest.mark.parametrize("rule", [rule for rule in RULES if isinstance(rule[1], str)], ids=str)
def test_a_rule_says_words_of_its_pattern_alone(rule):
    pattern, phrase = rule
    for slot in phrase.split("{")[1:]:
        assert "{" + slot.split("}")[0] + ":" in pattern


def test_what_is_in_quotes_stays():
    assert reworded('mails I never answered about "I never answered"') == (
        'with no reply by me about "I never answered"'
    )
