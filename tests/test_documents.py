"""The documents and the code name the same things: commands, variables, phrases, files, links."""

import ast
import re
import subprocess

import pytest
from django.core.management import get_commands

from tapestry.query.context import Context
from tapestry.query.frontend import read
from tapestry.query.phrases.help.phrasebook import phrasebook
from tapestry.query.phrases.parser import parse_phrase
from tests.bench import BENCHES
from tests.support.paths import ROOT

README, LANGUAGE, PAPERS = "README.md", "tapestry/query/LANGUAGE.md", "tapestry/PAPERS.md"
GLOSSARY, FIGURES = "tapestry/GLOSSARY.md", "tests/bench/FIGURES.md"
SIMULATION, STANDING = "tests/simulation/README.md", "tests/bench/STANDING.md"
SCALE = "tests/bench/SCALE.md"
DESIGNS = ("tapestry/DESIGN.md", "filters/DESIGN.md")
OPERATING, SECURITY = "filters/OPERATING.md", "filters/SECURITY.md"
OTHERS = (*DESIGNS, OPERATING, SECURITY, SIMULATION, STANDING, SCALE)
DOCUMENTS = [README, LANGUAGE, PAPERS, GLOSSARY, FIGURES, *OTHERS]
SET_FOR_CHILDREN = {"SPARK_HOME", "TAPESTRY_BENCH"}
READ_BY_LIBRARIES = {"SSL_CERT_FILE"}

VARIABLE = re.compile(r"TAPESTRY_[A-Z_]+|[A-Z_]+_(?:KEY|REMOTE|URL|HOME|FILE)")
FILE = re.compile(r"(?:tapestry|filters|templates|tests)(?:/\w[\w.-]*)+")
SPAN = re.compile(r"`([^`\n]+)`")
BLOCK = re.compile(r"^```\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s#]*)(#[^)\s]+)?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
CITATION = re.compile(r"\[([A-Z]\w+\d\d)\b")
WRONG_FIRST = re.compile(r"(?i:that|those|what|when|where|which|who|whom|whose|whether|how|of)\b")


def text_of(name):
    return (ROOT / name).read_text()


def code_in(name):
    """Return what a document writes as code: its blocks, and what stands in backticks."""
    text = text_of(name)
    return BLOCK.findall(text) + SPAN.findall(BLOCK.sub("", text))


def named(pattern, names=DOCUMENTS):
    return {
        found for name in names for code in code_in(name) for found in re.findall(pattern, code)
    }


def anchors(name):
    """Return the anchors that a document's headings have on GitHub."""
    headings = HEADING.findall(BLOCK.sub("", text_of(name)))
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


def python_files():
    return [path for room in ("tapestry", "filters") for path in (ROOT / room).rglob("*.py")]


def filters_in(name):
    """Return the filters in a document's blocks: each line is one, or a paragraph of SQL."""
    for block in BLOCK.findall(text_of(name)):
        for paragraph in block.strip().split("\n\n"):
            is_sql = paragraph.startswith("SELECT")
            yield from [paragraph] if is_sql else paragraph.splitlines()


def test_readme_is_short_and_links_every_document():
    listed = ["git", "ls-files", "*.md"]
    found = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert sorted(found.split()) == sorted(DOCUMENTS)
    assert {path for path, _ in LINK.findall(text_of(README))} >= set(DOCUMENTS) - {README}
    assert len(text_of(README).split()) <= 1300


@pytest.mark.parametrize("name", DESIGNS)
def test_designs_are_short(name):
    assert len(text_of(name).split()) <= 4000


def test_paragraphs_of_operating_are_short():
    blocks = re.split(r"\n\s*\n|\n(?=- |\d\. |\|)", BLOCK.sub("", text_of(OPERATING)))
    assert [block for block in blocks if len(block.split()) > 120] == []


def test_commands():
    modules = (name for name, app in get_commands().items() if app == "filters.site")
    ours = {name.replace("_", "-") for name in modules}
    assert named(r"manage\.py ([a-z][a-z-]*)") == {*ours, "createsuperuser"}


def test_benches():
    assert named(r"manage\.py bench ([a-z]+)") <= set(BENCHES)
    in_tables = set(re.findall(r"\| `([a-z]+)(?: [^`|]*)?` \|$", text_of(FIGURES), re.MULTILINE))
    assert in_tables | named(r"manage\.py bench ([a-z]+)", [FIGURES]) == set(BENCHES)


def test_environment_variables():
    read_here = set()
    for path in python_files():
        if "environ" in (text := path.read_text()):
            texts = {node.value for node in ast.walk(ast.parse(text)) if hasattr(node, "value")}
            read_here |= {each for each in texts if VARIABLE.fullmatch(str(each))}
    assert named(VARIABLE) - READ_BY_LIBRARIES == read_here - SET_FOR_CHILDREN


def test_targets_of_make():
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    assert named(r"\bmake ([a-z-]+)") <= targets


@pytest.mark.parametrize("name", DOCUMENTS)
def test_files(name):
    assert [path for path in sorted(named(FILE, [name])) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links(name):
    for path, anchor in LINK.findall(text_of(name)):
        target = (ROOT / name).parent / path if path else ROOT / name
        assert target.exists(), path
        assert not anchor or anchor[1:] in anchors(target), anchor


def test_every_term_of_the_glossary_stands_once_and_in_its_file():
    rows = [
        row.strip("| ").split(" | ")
        for row in text_of(GLOSSARY).splitlines()
        if row.startswith("| ") and row.endswith("` |")
    ]
    assert len(rows) > 50
    every_term = [term for terms, *_ in rows for term in terms.split(", ")]
    assert len(set(every_term)) == len(every_term)
    missing = []
    for terms, _, file in rows:
        words = " ".join((ROOT / file.strip("`")).read_text().split()).lower()
        missing += [
            (term, file) for term in terms.split(", ") if term.strip("`").lower() not in words
        ]
    assert not missing


@pytest.mark.parametrize("name", [GLOSSARY, PAPERS])
def test_each_row_names_a_file(name):
    rows = re.findall(r"^\| [^|]+ \| [^|]+ \| ([^|]+) \|$", text_of(name), re.MULTILINE)
    rows = [last for last in rows if last not in ("file", "where")]
    assert rows
    assert [last for last in rows if not (FILE.search(last) or LINK.search(last))] == []


def test_citations():
    keys = set(re.findall(r"^\| \[(\w+)\] \|", text_of(PAPERS), re.MULTILINE))
    cited = {key for name in DOCUMENTS for key in CITATION.findall(text_of(name))}
    assert cited == keys


def citations(text):
    """Return the papers that a text cites, each with a section if the paper has numbers."""
    for key, sections in re.findall(r"\[([A-Z]\w+\d\d)((?:,? §[\d.]+)*)", text):
        yield from [(key, section) for section in re.findall(r"§([\d.]*\d)", sections)] or [
            (key, "")
        ]


def test_the_papers_and_the_files_name_each_other():
    """Hold the files of each section against the sections of each file in tapestry/."""
    listed = set()
    for row in re.findall(
        r"^\| (\[\w+(?: §[\d.]+)?\] ?[^|]*)\|[^|]+\|(.+)\|$", text_of(PAPERS), re.M
    ):
        listed |= {(cited, path) for cited in citations(row[0]) for path in FILE.findall(row[1])}
    in_code = {
        (cited, str(path.relative_to(ROOT)))
        for path in (ROOT / "tapestry").rglob("*.py")
        for cited in citations(path.read_text())
    }
    assert in_code - listed == set()
    assert {pair for pair in listed if pair[1].endswith(".py")} - in_code == set()


def kinds(said):
    """Return the kinds of phrases in what was read."""
    parts = getattr(said, "parts", ())
    return {said.kind} if not parts else set().union(*map(kinds, parts))


def test_phrases():
    _, _, rest = text_of(LANGUAGE).partition("<!-- phrases: begin -->")
    table, _, _ = rest.partition("<!-- phrases: end -->")
    shown = SPAN.findall("".join(row.split("|")[1] for row in table.splitlines() if "|" in row))
    documented = set().union(*(kinds(parse_phrase(phrase)) for phrase in shown))
    assert documented == set().union(*(kinds(parse_phrase(text)) for text, _ in phrasebook()))


@pytest.mark.parametrize("name", [README, LANGUAGE])
def test_filters(name):
    context = Context("terry", resolve=lambda owner, name: "about baseball")
    found = [text for text in filters_in(name) if not re.match(r"make|\.venv|.*─|.*│", text)]
    assert len(found) >= 5
    assert all(read(text, context) for text in found)


@pytest.mark.parametrize("room", ["tapestry"])
def test_docstrings_begin_with_a_verb_or_a_noun(room):
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    nodes = (
        (path.relative_to(ROOT), node)
        for path in (ROOT / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
    )
    docstrings = (
        (path, ast.get_docstring(node) or "") for path, node in nodes if isinstance(node, kinds)
    )
    wrong = [(str(path), text) for path, text in docstrings if WRONG_FIRST.match(text)]
    assert wrong == []
