"""Kinds of files that phrases name: by media type, by the ending of a name, or by both."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FILES = r"(?:files?|attachments?|documents?)"


@dataclass(frozen=True, slots=True)
class FileType:
    """Files of one kind: ``words`` are names of it, those of ``nouns`` such as stand alone.

    ``media_type`` is one of them, or ends in ``/*``; ``endings`` are of file names.
    """

    nouns: str
    words: str = ""
    media_type: str = ""
    endings: tuple[str, ...] = ()


FILE_TYPES = {
    "pictures": FileType("pictures?|images?|photos?|photographs?", "", "image/*"),
    "videos": FileType("videos?|movies?", "", "video/*"),
    "recordings": FileType("recordings?", "audio|sound|music", "audio/*"),
    "pdf files": FileType("pdfs?", "", "application/pdf", ("pdf",)),
    "jpg files": FileType("jpe?gs?", "", "image/jpeg", ("jpg", "jpeg")),
    "invitations": FileType("invitations?|invites?", "calendar|ics", "text/calendar", ("ics",)),
    "documents": FileType("documents?", "word", endings=("doc", "docx", "odt", "rtf")),
    "spreadsheets": FileType("spreadsheets?", "excel", endings=("xls", "xlsx", "ods", "csv")),
    "presentations": FileType(
        "presentations?|slides", "powerpoint", endings=("ppt", "pptx", "odp")
    ),
}
"""The kinds of files that have a name of their own, by the canonical one of each."""

_ENDINGS = (
    *("7z", "apk", "asc", "avi", "bmp", "bz2", "c", "cpp", "css", "csv", "dat", "diff", "dmg"),
    *("doc", "docm", "docx", "dwg", "eml", "eps", "epub", "exe", "gif", "gpx", "gz", "h", "heic"),
    *("htm", "html", "iso", "jar", "java", "js", "json", "key", "log", "m4a", "md", "mkv", "mov"),
    *("mp3", "mp4", "msg", "numbers", "odp", "ods", "odt", "ogg", "p7m", "pages", "patch", "php"),
    *("png", "ppt", "pptx", "ps", "psd", "py", "r", "rar", "rtf", "sh", "sql", "svg", "tar", "tex"),
    *("tgz", "tif", "tiff", "ts", "txt", "vcf", "wav", "webm", "webp", "wmv", "xls", "xlsm"),
    *("xlsx", "xml", "xz", "yaml", "yml", "zip", "zst"),
)
"""Endings of names that are said as such: “docx files”."""

NOUNS = "|".join(kind.nouns for kind in FILE_TYPES.values())
_WORDS = "|".join(kind.words for kind in FILE_TYPES.values() if kind.words)
_TYPE = rf"\.?(?:{NOUNS}|{_WORDS}|{'|'.join(_ENDINGS)})"

FILE_TYPE = rf"(?:{_TYPE}\s+{_FILES}|{NOUNS})"
"""The regular expression of a kind of files, as it stands after “with”."""

_START = r"(?<![\s\S])"
_BEGIN = "|".join(
    (
        *(_START, r"(?<=[(,]\s)", r"(?<=\()", r"(?<=\s\s)"),
        *(rf"(?<=\b{word}\s)" for word in ("and", "or", "but", "not", "me")),
        *(rf"(?<={_START}{word}\s)" for word in ("all", "any", "find", "my", "show", "the")),
    )
)
TYPE_OF_FILES = rf"(?:{_BEGIN}){_TYPE}\s+(?:files?|attachments?)"
"""The regular expression of a kind of files that is a phrase by itself: “pdf files”.

In “about old log files” it is some words of others, so it stands only where a phrase begins.
"""

_NOUN_AFTER = re.compile(rf"\s+{_FILES}\Z")


def file_type(text: str) -> str | None:
    """Return the canonical name of a kind of files, None of what is none.

    >>> file_type("photo"), file_type("PDF attachments"), file_type(".docx files"), file_type("x")
    ('pictures', 'pdf files', 'docx files', None)
    """
    word = _NOUN_AFTER.sub("", text.lower()).removeprefix(".")
    for name, kind in FILE_TYPES.items():
        if word in kind.endings[:1] or re.fullmatch(f"{kind.nouns}|{kind.words or '.^'}", word):
            return f"{word} files" if word in _ENDINGS and not kind.media_type else name
    return f"{word} files" if word in _ENDINGS else None


def ending_of(name: str) -> str:
    """Return the ending of names that a kind of files without a name of its own stands for.

    >>> ending_of("docx files")
    'docx'
    """
    return name.removesuffix(" files")
