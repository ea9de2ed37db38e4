"""Random phrases as people write them: in other spellings, with lists, dates and small words."""

from datetime import date

from hypothesis import strategies as st

from tapestry.query.phrases.grammar import KEYWORDS

_WORDS = ("mary", "me", "Mary Jones", "spark", '"from"', "mary and bill", "b, c")
names = st.one_of(
    st.sampled_from(
        ("joe", "me", "Jones", '"Mary Jones"', "joe@X.org", "@x.org", "“a b”", "O'Brien")
    ),
    st.sampled_from(KEYWORDS),
    st.sampled_from(("Mary Jones", "joe or mary", "joe, Mary Jones or @x.org", "index and b")),
    st.builds(
        "{} or {}".format, st.sampled_from(("joe", "Data", "index")), st.sampled_from(_WORDS)
    ),
    st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=6).map(
        lambda text: '"' + text.replace('"', '""') + '"'
    ),
)
counts = st.sampled_from(("0", "1", "one", "two", "3", "five", "05", "21", "10000", "-1", "2.5"))
ages = st.builds(
    "{} {}".format,
    st.sampled_from(("1", "two", "20", "twenty", "21", "1.50", "0.1", "007", "100.0")),
    st.sampled_from(("week", "weeks", "Days", "hours", "minute", "seconds")),
)
DATED = ("since", "before", "after", "until", "on", "in")
dates = st.one_of(
    st.dates(date(1900, 1, 1), date(2100, 1, 1)).map(lambda day: f"{day:%d %B %Y}"),
    st.dates(date(1900, 1, 1), date(2100, 1, 1)).map(str),
    st.sampled_from(
        (
            "Monday",
            "yesterday",
            "last Friday",
            "3 March",
            "29 February",
            "March",
            "2024",
            "March 31st",
        )
    ),
)
one_phrase = st.one_of(
    *(
        st.builds(template.format, names, names)
        for template in (
            "from {}",
            "BY {}",
            "voted for by {} but not by {}",
            "replies to a message about {}",
            "replies to a message mentioning {}",
            "to {}",
            "cc {}",
            "with an attachment named {}",
            "filename:{}",
            "about {}",
            "mentioning {}",
            "in newsgroup {}",
            "in {}",
            "in filter {}",
            "in terry's {}",
            "on list {}",
            "replies by {}",
            "replies to {}",
            "replied to by {}",
            "with no reply by {}",
            "earliest replies by {}",
            "the first answer by {}",
            "tagged {} and then unanswered for two days",
            "among the latest 3 in {}",
            "voted for by {}",
            "voted against by {}",
            "tagged {}",
            "tagged {} by {}",
            "annotated by {}",
            "without an annotation by {}",
            "all my mail that was sent by {}",
            "unanswered posts regarding {}",
            "answered by {}",
            "from:{}",
            "-subject:{}",
            "from:joe {}",
            "neither from {} nor about {}",
        )
    ),
    *(
        st.builds(template.format, ages)
        for template in (
            *("{} old", "older than {}", "newer than {}", "with no reply for {}"),
            *("in the last {}", "unanswered for {}", "more than {} old"),
            *("answered within {}", "with no reply within {}", "breaking a silence of {}"),
            "replies following a pause of {}",
            *("3 replies by different people within {}", "tagged later then unanswered for {}"),
        )
    ),
    *(
        st.builds(template.format, counts)
        for template in (
            "with more than {} replies",
            "with at least {} replies",
            "with fewer than {} replies",
            "with at least {} replies by joe",
            "in a thread with at least {} messages by joe",
            "starting a thread of more than {}",
            "with replies by at least {} people within 2 days",
            "among the last {} in comp.sys",
            "voted for by more than {} people",
            "liked by more than {} people like me",
            "voted against by more than {} people",
            "with a score above {}",
            "with a score below {}",
            "among the top {} by votes",
            "among the top {} by votes today",
            "among the top {} by score this week",
            "among the top {} by replies",
            "among the top {} by replies today",
            "among the top {} by replies this week",
            "with more than {} attachments",
            "at least {} attachments",
            "with fewer than {} attachments",
            "with at most {} attachments",
            "has at most {} replies",
            "larger than {} KB",
            "smaller than {} MB",
            "more than {} replies",
            "top {} by votes",
            "between {} and 6 days old",
        )
    ),
    st.builds("between {} and {} old".format, ages, ages),
    st.builds("{} {}".format, st.sampled_from(DATED), dates),
    st.builds("between {} and {}".format, dates, dates),
    st.sampled_from(
        (
            "without an annotation",
            *("replies", "replied to", "unanswered", "with attachments", "starting a thread"),
            *("asked again after an answer", "from my contacts", "from no one in my address book"),
            *("from anyone I meet this week", "about an event that has been cancelled"),
            *("with pictures", "pdf attachments", "without docx files", "mime:image/*", "has:pdf"),
            *("today", "mails from this week", "without attachments", "no reply", "has:attachment"),
        )
    ),
)
some_phrases = st.recursive(
    one_phrase,
    lambda inner: st.one_of(
        st.builds("{} {}".format, inner, inner),
        st.builds("{}, {}".format, inner, inner),
        st.builds("{} but not {}".format, inner, inner),
        st.builds("{} or {}".format, inner, inner),
        st.builds("({}, and {})".format, inner, inner),
        st.builds("not ({})".format, inner),
    ),
    max_leaves=5,
)
