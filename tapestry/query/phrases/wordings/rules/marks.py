"""Rules about votes, tags, files, sizes, lists, and what is left out."""

from __future__ import annotations

import re

from tapestry.query.phrases.dates import NUMBERS
from tapestry.query.phrases.filetypes import FILE_TYPE, file_type
from tapestry.query.phrases.wordings.lexicon import is_phrase_word
from tapestry.query.phrases.wordings.rules.answers import counted
from tapestry.query.phrases.wordings.rules.clauses import any_of, number_of

_ATTRIBUTES = """
    attachments attachment files? links? repl(y|ies) answers? responses? votes? tags? labels? any
    more most fewer less least the latest subject body text patch patches reviews?
    annotations? invitations? questions? exactly only just between score name over cc copy bcc
    media type nothing
"""
_HAD = re.compile(f"{'|'.join((*_ATTRIBUTES.split(), *NUMBERS))}", re.IGNORECASE)
"""What messages have, beside their words."""

_WITH = re.compile(
    r"(?:\A|\b(?:thread|conversation|agree|start|begin|end|(?:day|week|month|year)s)\w*\s)\Z",
    re.IGNORECASE,
)
"""What stands before “with” where no word of a message follows, or nothing asks for mail."""

_OF_THREAD = re.compile(r"\b(?:thread|conversation)s?\b", re.IGNORECASE)
_MARK = "(important | urgent | todo | later | spam)"


def _sized(found: re.Match[str]) -> str:
    """Return a size whose unit stands at its number, ``25mb``."""
    size = found["size"].lower()  # of a K that is the sign of kelvins, too
    number = size.rstrip("kmb")
    return f"larger than {number} {size[len(number)].upper()}B "


def _compared_size(found: re.Match[str]) -> str:
    """Return a size behind its sign, ``>25mb``."""
    size = found["size"]
    way = "larger" if size[0] == ">" else "smaller"
    return f"{way} than {size.lower().strip('<>=kmb')} {'M' if 'm' in size.lower() else 'K'}B "


def _without_word(found: re.Match[str]) -> str:
    """Return that a word is left out, unless it is a phrase by itself."""
    word = found["word"]
    if _HAD.fullmatch(word) and found[0].lower().startswith("but no "):
        return found[0]
    if is_phrase_word(word):
        return f"but not {word} "
    return "and leaving out me " if word.lower() == "me" else f'and leaving out "{word}" '


_SAID_OF_IT = re.compile(
    r".*(?:ing|ed|able|ible|ly|n[dt]|wn|id|one|ical|ete|ous|ful)|works?|set|read|true|correct|safe",
    re.IGNORECASE,
)
"""Words that say of a thing how it is not: “script not working”."""


def _not_word(found: re.Match[str]) -> str:
    """Return that a word is left out, unless it may be said of what stands before it."""
    if _SAID_OF_IT.fullmatch(found["word"]):
        return found[0]
    return f"{found['before']} {_without_word(found)}"


def _of_types(found: re.Match[str]) -> str:
    """Return “pdf or docx” as what is attached, before what follows ``how``, if anything does."""
    one, other, how = found["one"], found["other"], found.groupdict().get("how") or ""
    if not all(re.fullmatch(FILE_TYPE, f"{word} files") for word in (one, other)):
        return found[0]
    return f"(with {one} files or with {other} files) {how} "


def _of_type(found: re.Match[str]) -> str:
    """Return “with pdf” as what it means; “with a patch” is a phrase."""
    is_type = found["type"].lower() != "patch" and re.fullmatch(
        FILE_TYPE, f"{found['type']} files", re.IGNORECASE
    )
    return f"with {found['type']} files " if is_type else found[0]


def _of_words(found: re.Match[str]) -> str:
    """Return “with router” as what is mentioned, unless it is something that messages have."""
    how, word, after = found.group("how", "word", "after")
    is_plain = re.fullmatch("[^\\W\\d][\\w-]{2,}", word) and not re.fullmatch(
        FILE_TYPE, f"{word} files"
    )
    before = found.string[: found.start()]
    is_other = _WITH.search(before)
    if is_other or not is_plain or _HAD.fullmatch(word) or is_phrase_word(word):
        return found[0]
    negation = "not " if how.lower() == "without" else ""
    if _OF_THREAD.search(before):
        return f"{negation}in a thread with {word} {after or ''} "
    return f'{negation}mentioning "{word}" {after or ""} '


def _files(found: re.Match[str]) -> str:
    """Return “word documents” as files of this kind."""
    is_type = re.fullmatch(FILE_TYPE, f"{found['type']} files", re.IGNORECASE)
    return f"with {found['type']} files " if is_type else found[0]


def _attached(found: re.Match[str]) -> str:
    """Return “with invoices attached” as files of that name, unless it is a kind of files."""
    word = found["type"].lower()
    if word in ("something", "anything", "items"):
        return "with attachments "
    if file_type(word) or word in ("file", "files", "nothing"):
        return found[0].replace(",", "with")
    return f'with an attachment named like "*{word.removesuffix("s")}*" '


def _with_files(found: re.Match[str]) -> str:
    """Return “contract attached” as words with attachments; a verb before it says it of a thing."""
    is_verb = found["word"].lower() in ("is", "are", "not", "versus", "find", "see", "nothing")
    return found[0] if is_verb else f"{found['word']} with attachments {found['after'] or ''} "


def _version(found: re.Match[str]) -> str:
    later = " or ".join([f"about v{number}" for number in range(2, 10)])
    which = f"not ({later})" if found["version"].lower() == "v1" else f"about {found['version']}"
    return f"{which} with a patch "


def _versions(found: re.Match[str]) -> str:
    """Return patches whose subject has this version, or one up to 9."""
    versions = [f"about v{number}" for number in range(int(found["version"][1]), 10)]
    return f"({' or '.join(versions)}) and with a patch "


def _after(found: re.Match[str]) -> str:
    after = found[0].split()[-1]
    return "" if after.startswith(("usenet", "newsgroup", "group")) else f"{after} "


def _gigabytes(found: re.Match[str]) -> str:
    return f"{float(found['size']) * 1024:g} MB "


def _unreviewed(found: re.Match[str]) -> str:
    """Return patches so old that nobody has looked at."""
    series = "patch series " if found[0].startswith("patch") else ""
    return f"{series}with no review {counted(found['age'])} old "


def _scored(found: re.Match[str]) -> str:
    """Return a score that is compared with a number."""
    way, number = found["way"].lower(), number_of(found["number"])
    side = "above" if way in ("more", "at least") else "below"
    return f"with a score {side} {number + {'at least': -1, 'at most': 1}.get(way, 0)} "


RULES = (
    (
        "(^ | HAVE) A? {one:PLAIN} (or | and) {other:PLAIN} (files | attachments | file | "
        "attachment)",
        _of_types,
    ),
    ("(tagged | labelled | labeled) as", "tagged "),
    ("not tagged ($ | {next:FOLLOW})", lambda found: f"without a tag {found['next'] or ''} "),
    ("(without | with no | but no) (the)? TAG {words:VALUE}", "not tagged {words}"),
    (
        "^ HAVE? A? score (of)? at least {number:NUMBER}",
        lambda found: f"with a score above {number_of(found['number']) - 1} ",
    ),
    (
        "(^ | with) (a)? score (above | over | more than) {number:NUMBER}",
        "with a score above {number}",
    ),
    ("(but | and) no (links | link | urls)", "and not with links "),
    ("^ with TAG $", "not without a tag "),
    (
        "(and | or) filter {words:WORD}",
        lambda found: f"{found[0].split()[0]} in filter {found['words']} ",
    ),
    ("^ score {way:MORE} (than)? {number:NUMBER}", _scored),
    (
        "(sized? | size)? between {low:SIZE} {least:BYTES} and {size:SIZE} {unit:BYTES}",
        "larger than {low} {least} and smaller than {size} {unit}",
    ),
    (
        "between {low:SIZE} and {size:SIZE} {unit:BYTES}",
        "larger than {low} {unit} and smaller than {size} {unit}",
    ),
    ("(under | below | less than) {size:SIZE} {unit:BYTES}", "smaller than {size} {unit}"),
    ("^ (tagged | labelled | labeled) MAIL $", "not without a tag "),
    ("^ not (automatic | automated) $", "not from programs "),
    ("not tagged by {who:SOMEBODY}", "without a tag by {who}"),
    ("tagged by {who:SOMEBODY}", "not without a tag by {who}"),
    ("with (a | the)? TAG {words:VALUE}", "tagged {words}"),
    ("WITHOUT TAG", "without a tag "),
    ("without any? {one:HELD} (or | nor) {other:HELD}", "not with {one} and not with {other}"),
    ("with A? negative (score | votes)", "with a score below 0 "),
    ("with A? positive (score | votes)", "with a score above 0 "),
    ("(to | on | from) (the)? LIST {words:NAME}", "on list {words}"),
    ("with (an | the)? (attachment | file) {words:FILENAME}", "with an attachment named {words}"),
    (
        "FILES (whose | with a | with the) (name | filename) CONTAIN {words:VALUE}",
        "attachment named {words}",
    ),
    ("HAVE A? {type:PLAIN} $", _of_type),
    ("(has | have | having) A? {kind:DOTTED}", "with a {kind}"),
    ("COMMA? no attachment", "and not with attachments "),
    ("^ A? FILES {how:COMPARED}", "with attachments {how}"),
    ("^ {type:PLAIN} (documents | sheets | document)", _files),
    (
        "^ {one:PLAIN} or {other:PLAIN} {how:PREP}",
        _of_types,
    ),
    ("^ no {what:PICTURES} $", "without {what}"),
    ("(except | excluding | (but | and) (not | no)) {what:PICTURES}", "and without {what}"),
    (
        "HAVE A? (attachment | {one:HELD}) or (a link | {other:HELD})",
        lambda found: (
            f"(with {found['one'] or 'attachments'} or with {found['other'] or 'links'}) "
        ),
    ),
    ("with (a | any | some) TAG", "not without a tag "),
    ("^ MAIL? (WHICH? (BE | have))? (tagged | labelled | labeled) $", "not without a tag "),
    (
        "(no | not | without | except | but not) (any)? (automatic | automated | "
        "machine-generated) (MAIL | notifications)",
        "and not from programs ",
    ),
    (
        "(no | not | without | except | but not) (any)? (automatic | automated | "
        "machine-generated) REPLY",
        "and not (from programs and replies) ",
    ),
    (
        "(automatic | automated | auto | auto-generated | machine-generated) REPLY",
        "from programs replies ",
    ),
    (
        "(automatic | automated | auto | auto-generated | machine-generated) "
        "(MAIL | notifications)",
        "from programs ",
    ),
    (
        "(written | sent)? by (actual | real)? HUMANS",
        "not from programs ",
    ),
    ("^ (patches | patch series) WHICH? NOBODY (has)? ACKED WITHIN {age:AGE}", _unreviewed),
    ("{without:WITHOUT} review (for | in | within | after) {age:AGE}", _unreviewed),
    ("patches (that | which)? (change | touch | modify | changing | modifying)", "touching "),
    ("not (yet)? reviewed", "with no review "),
    ("^ (a | the)? patches BY", "patch series from "),
    (
        "(in | from | on) A? (usenet | newsgroups | newsgroup | group | groups) ($ | PHRASE)",
        lambda found: f"in any newsgroup {_after(found)}",
    ),
    ("^ (usenet | newsgroup) (posts | articles | messages)", "in any newsgroup "),
    ("in (my | the) filter", "in filter "),
    ("{size:SIZE} (gb | gigabyte | gigabytes)", _gigabytes),
    ("^ (the)? patches {how:PATCHES}", "patch series {how}"),
    ("(label | tag | category) (is | :) {words:VALUE}", "tagged {words}"),
    ("untagged", "without a tag "),
    ("^ A? {version:VERSION} patches", _version),
    ("patches {version:VERSION} (by | from)", lambda found: f"{_version(found)}from "),
    ("^ A? {version:VERSION} or (later | newer | higher | above | up) patches", _versions),
    ("^ patches {version:VERSION} (or | and) (later | newer | higher | above | up)", _versions),
    (
        "(with)? (the | an)? average of (the | its)? (last | latest) (ten | 10) votes (is)? "
        "(above | over | more than) {number:NUMBER}",
        "with latest votes averaging above {number}",
    ),
    ("(over | larger than | bigger than | more than) {size:SIZED}", _sized),
    ("size (is)? (greater | larger | bigger | more) than", "larger than "),
    ("(size (is)?)? at least {size:SIZE} {unit:BYTES}", "larger than {size} {unit}"),
    ("(under | smaller than | less than) {size:SIZED}", lambda found: f"not {_sized(found)}"),
    ("(^ | ^ MAIL) {size:ANGLED}", _compared_size),
    ("over {size:SIZE} (kilobytes | kilobyte | kb)", "larger than {size} KB"),
    ("over {size:SIZE} (megabytes | megabyte | mb)", "larger than {size} MB"),
    ("^ (large | big | huge) attachments", "with attachments larger than 1 MB "),
    ("^ no LIST $", "not on any list "),
    ("^ no LIST ,", "not on any list , "),
    ("COMMA no LIST", "and not on any list "),
    ("COMMA? with A? review by", "and reviewed by "),
    (
        "^ (tagged | labelled | labeled) {words:VALUE} (but not | and not) {word:VALUE} $",
        "tagged {words} and not tagged {word}",
    ),
    ("BUT {way:WAYS} by", "and voted {way} by "),
    ("voted {way:WAYS} by NONE", "not voted {way} by more than 0 people "),
    ("{group:GROUP} newsgroups", "in {group}"),
    (
        "(in | on) (any | all) {group:WORD} (group | groups | newsgroups | hierarchy)",
        "in {group}.*",
    ),
    ("crossposted to {first:GROUP} and {second:GROUP}", "in {first} and in {second}"),
    ("crossposted to {first:GROUP}", "in {first}"),
    ("(to | on) {group:HIERARCHY}", "in {group}"),
    ("BUT? WHICH? NOT marked as? {words:WORD}", "and not tagged {words}"),
    ("WHICH? BE? marked as? {words:WORD}", "tagged {words}"),
    (
        "WHICH? BE? (labelled | labeled | categorized | categorised) as? {words:WORD}",
        "tagged {words}",
    ),
    ("WHICH? (got | BE)? (voted down | downvoted | down-voted)", "with a score below 0 "),
    (
        "WHICH? (got | BE)? (voted up | upvoted | up-voted) (, | but | and) not by {who:SOMEBODY}",
        "with a score above 0 and not voted for by {who}",
    ),
    ("WHICH? (got | BE)? (voted up | upvoted | up-voted)", "with a score above 0 "),
    ("WHICH? CONTAIN (an | a | any | some)? FILES", "with attachments "),
    (
        "HAVE A? {one:PLAIN} or A? {other:PLAIN} attached",
        _of_types,
    ),
    ("(HAVE A? | ,) {type:PLAIN} attached", _attached),
    ("{word:PLAIN} attached ($ | {after:PREP})", _with_files),
    ("^ (email | e-mail | mail)? attachments", "with attachments "),
    ("^ (large | big | huge) MAIL", "larger than 1 MB "),
    ("^ (long | lengthy) MAIL", "larger than 10 KB "),
    ("^ (short | small | tiny) MAIL", "smaller than 2 KB "),
    ("(bigger | larger | more | greater) than {size:SIZE} KB", "larger than {size} KB"),
    ("(bigger | larger | more | greater) than {size:SIZE} MB", "larger than {size} MB"),
    (
        ", (in order)? to (find | see | get | catch | collect) A? (meeting | calendar) INVITE",
        "with invitations ",
    ),
    ("(with)? A? (meeting | calendar) INVITE", "with invitations "),
    (
        "(with | have | has) A? FILES? (ending | that ends | whose name ends | which ends) "
        "(with | in | on) {ending:WORD}",
        lambda found: f'with an attachment named like "*.{found["ending"].strip(".*")}" ',
    ),
    ("^ MAIL? {name:STARRED} FILES? $", 'with an attachment named like "{name}"'),
    ("(on | from | to | via | through) A? LIST {next:AFTERLIST}", "on any list {next}"),
    ("COMMA? (not | not (from | on | to | via)) A? LIST ($ | ,)", "and not on any list , "),
    (
        "with (a | an)? {kind:DOTTED} (FILES)?",
        lambda found: f"with {found['kind'].lstrip('.')} files attached ",
    ),
    ("(on | from | to | via | through) A? LIST $", "on any list "),
    (
        "(from | on | in | to) the {words:WORD} (mailing list | list | mailinglist)",
        "on list {words}",
    ),
    ("^ LIST (traffic | MAIL)", "on any list "),
    ("^ mailing (list | lists) $", "on any list "),
    ("^ MAIL? on {words:DASHED} $", "on list {words}"),
    ("^ not on {words:DASHED} $", "not on list {words}"),
    ("^ not (a)? patch $", "not with a patch "),
    ("patches to {words:DASHED} $", "patches on list {words}"),
    ("^ MAIL on {words:DASHED} {next:PHRASE}", "on list {words} {next}"),
    ("^ {words:DASHED} MAIL {next:PHRASE}", "on list {words} {next}"),
    ("^ {group:HIERARCHY} MAIL {next:PHRASE}", "in {group} {next}"),
    (
        "^ {words:NAME} LIST (but not | , no | , not | without) {word:PLAIN} $",
        'on list {words} and not mentioning "{word}"',
    ),
    ("^ no MAIL (on | from) (A)? LIST unless", "not on any list or "),
    ("^ no MAIL (on | from) (A)? LIST", "not on any list "),
    ("^ no MAIL from", "not from "),
    (
        "(but | and)? not if (they are | it is) from (a)? (particular | certain)? (sender)?",
        "and not from ",
    ),
    (
        "unless (it | they | these | those | i'm | i am | its | it's | they're | MAIL)? "
        "(is | are | come | comes | came | was | were)?",
        "but not ",
    ),
    (
        "{how:PREP} (anyone | anybody | people)? at? {domain:DOMAIN} (except | excluding | but "
        "not) {words:SENDERS} $",
        lambda found: (
            f"{found['how']} @{found['domain'].lstrip('@')} and not {found['how']} "
            f"{any_of(found['words'])} "
        ),
    ),
    ("in {one:GROUP} (, | but | and)? not in? {other:GROUP} $", "in {one} and not in {other}"),
    ("(except | excluding | but not | and not | but no) (the | an)? {word:PLAIN} $", _without_word),
    ("{before:NAME} (not | , no | minus) {word:NAME} $", _not_word),
    ("(except | excluding | but not)", "but not "),
    ("{how:HOLD} (the | a | an)? {word:PLAIN} ({after:FOLLOW} | $)", _of_words),
)
