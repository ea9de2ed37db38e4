"""Phrases about the names and the kinds of attached files."""

from __future__ import annotations

from tapestry.query.phrases.catalogue.conditions import column, equal, escape, like, text
from tapestry.query.phrases.catalogue.kind import PhraseKind
from tapestry.query.phrases.filetypes import FILE_TYPES, ending_of
from tapestry.query.phrases.nodes import Phrase, Words
from tapestry.query.tree import nodes as n


def _named(words: Words) -> n.Condition:
    return n.Has(column("filenames"), text(words.text, words.span))


def _is_of_type(media_type: str) -> n.Condition:
    if media_type.endswith("/*"):
        return n.Like(column("media_types"), text(escape(media_type[:-1]) + "%"))
    return equal(column("media_types"), text(media_type))


def _attached(phrase: Phrase) -> n.Condition:
    name = phrase.words.text
    kind = FILE_TYPES.get(name)
    endings = kind.endings if kind else (ending_of(name),)
    tests = [_is_of_type(kind.media_type)] if kind and kind.media_type else []
    for ending in endings:
        tests.append(n.Like(column("filenames"), text(f"%.{escape(ending)}")))
    return n.Or.of(tests)


KINDS = (
    PhraseKind(
        spelling="with an attachment named {words:report}",
        description="with a file attached that has these words in its name",
        rank=70,
        meaning=lambda phrase, _: _named(phrase.words),
        others=(
            "WITH (ATTACHMENT | AN? ATTACHMENTS) NAMED words",
            "HAS AN? (ATTACHMENT | ATTACHMENTS) NAMED words",
            "BARE_FILE NAMED words",
        ),
    ),
    PhraseKind(
        spelling="with an attachment named like {words:*report*}",
        description="with a file attached of whose name this is the form",
        rank=79,
        meaning=lambda phrase, _: like("filenames", phrase.words),
    ),
    PhraseKind(
        spelling="with {filetype:pdf files} attached",
        description="with a file attached of this kind, such as pictures or docx files",
        rank=71,
        meaning=lambda phrase, _: _attached(phrase),
        others=(
            "WITH filetype",
            "WITH (A | AN | ANY) filetype ATTACHED?",
            "HAS (A | AN | ANY)? filetype ATTACHED?",
            "type_of_files",
        ),
        opposites=("(WITH | HAS) NO filetype ATTACHED?", "WITHOUT (A | AN | ANY)? filetype"),
    ),
    PhraseKind(
        spelling="with attachments of type {words:image/png}",
        description="with a file attached of this media type, such as image/*",
        rank=72,
        meaning=lambda phrase, _: _is_of_type(phrase.words.text.lower()),
    ),
)
