"""A planted fault: one small change of one function of the product, made in the site's process.

    source of the module ─ old -> new, in the function alone ─> compiled ─> its __code__

So the function keeps its name, its decorators and its place; nothing on the disk changes.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import CodeType, FunctionType, ModuleType
from typing import Any

Tell = Callable[[str], None]


class CannotBePlantedError(Exception):
    """The product's source is not what a plant says: the plant is to be written anew."""


@dataclass(frozen=True, slots=True)
class Plant:
    """A fault: in ``function`` of ``module``, ``old`` stands once, and becomes ``new``.

    ``law`` says what should find it: a law of the auditor, or ``error`` for what is raised, logged,
    or found by the site itself.
    """

    name: str
    module: str
    function: str
    old: str
    new: str
    law: str

    @property
    def room(self) -> str:
        return ".".join(self.module.split(".")[:2])


def plant(planted: Plant) -> None:
    """Plant a fault in this process."""
    function = function_of(planted)
    function.__code__ = faulty_code(planted)


SECONDS = 5.0
"""Seconds of work after which an order never ends, that is with a fault in it."""


def planting(planted: Plant) -> Callable[[], None]:
    """Return what is called in each process of a site."""

    def planting() -> None:
        from tests.simulation import site_process

        site_process.MOST_SECONDS = SECONDS
        plant(planted)

    return planting


def watch(plants: Sequence[Plant], tell: Tell) -> None:
    """Have this process tell the name of each plant whose place is reached, the first time."""
    reached: set[str] = set()

    def mark(name: str) -> None:
        if name not in reached:
            reached.add(name)
            tell(name)

    for function, code in marked(plants):
        function.__globals__[_MARK] = mark
        function.__code__ = code


def marked(plants: Sequence[Plant]) -> Iterator[tuple[FunctionType, CodeType]]:
    """Yield the functions of plants, with code that calls a mark at their places."""
    of_function: dict[tuple[str, str], list[Plant]] = {}
    for planted in plants:
        of_function.setdefault((planted.module, planted.function), []).append(planted)
    for same in of_function.values():
        yield function_of(same[0]), _marked_code(import_module(same[0].module), same)


_MARK = "_simulation_reached"


def function_of(planted: Plant) -> FunctionType:
    """Return the function, without what decorates it."""
    found: Any = import_module(planted.module)
    for name in planted.function.split("."):
        found = (
            inspect.getattr_static(found, name) if isinstance(found, type) else getattr(found, name)
        )
    while not isinstance(found, FunctionType):
        inner = next(
            (part for name in _INSIDE if (part := getattr(found, name, None)) is not None), None
        )
        if inner is None:
            raise CannotBePlantedError(f"{planted.name}: {planted.function} is no function")
        found = inner
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    return found


_INSIDE = ("__wrapped__", "__func__", "fget", "func", "run")


def faulty_code(planted: Plant) -> CodeType:
    """Return the code of the function with the fault in it."""
    module = import_module(planted.module)
    source = inspect.getsource(module)
    begin, end = _extent(source, planted)
    body = source[begin:end]
    if body.count(planted.old) != 1:
        raise CannotBePlantedError(
            f"{planted.name}: “{planted.old}” stands {body.count(planted.old)} times in"
            f" {planted.function} of {planted.module}"
        )
    changed = source[:begin] + body.replace(planted.old, planted.new) + source[end:]
    return _compiled(module, ast.parse(changed), planted)


def _compiled(module: ModuleType, tree: ast.Module, planted: Plant) -> CodeType:
    code = compile(tree, module.__file__ or "", "exec", dont_inherit=True)
    for name in planted.function.split("."):
        code = next(
            part for part in code.co_consts if isinstance(part, CodeType) and part.co_name == name
        )
    before = function_of(planted).__code__
    if code.co_freevars != before.co_freevars:
        raise CannotBePlantedError(f"{planted.name}: the function has other free variables then")
    return code


def _extent(source: str, planted: Plant) -> tuple[int, int]:
    node = _node(ast.parse(source), planted)
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts[node.lineno - 1], starts[node.end_lineno or node.lineno]


def _node(tree: ast.AST, planted: Plant) -> ast.FunctionDef:
    found: Any = tree
    for name in planted.function.split("."):
        found = next(
            (
                node
                for node in found.body
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name
            ),
            None,
        )
        if found is None:
            raise CannotBePlantedError(f"{planted.name}: there is no {planted.function}")
    return found


def _marked_code(module: ModuleType, same: Sequence[Plant]) -> CodeType:
    """Return the code of a function that tells where the places of plants in it are reached."""
    source = inspect.getsource(module)
    tree = ast.parse(source)
    begin, end = _extent(source, same[0])
    node = _node(tree, same[0])
    places = []
    for planted in same:
        at = begin + source[begin:end].index(planted.old)
        line = source.count("\n", 0, at) + 1
        places.append((_statements(node.body, line), line, planted.name))
    for statements, line, name in places:
        number = next(n for n, s in enumerate(statements) if (s.end_lineno or s.lineno) >= line)
        call = ast.parse(f"{_MARK}({name!r})").body[0]
        statements.insert(number, ast.copy_location(call, statements[number]))
    return _compiled(module, ast.fix_missing_locations(tree), same[0])


def _statements(statements: list[ast.stmt], line: int) -> list[ast.stmt]:
    """Return the innermost block that has a statement at a line."""
    for statement in statements:
        if statement.lineno <= line <= (statement.end_lineno or statement.lineno):
            if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                return _statements(statement.body, line)
            blocks = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
            blocks += [handler.body for handler in getattr(statement, "handlers", [])]
            blocks += [case.body for case in getattr(statement, "cases", [])]
            for block in blocks:
                if block and block[0].lineno <= line <= (block[-1].end_lineno or 0):
                    return _statements(block, line)
    return statements
