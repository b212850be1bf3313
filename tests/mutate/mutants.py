"""From a module's source to its mutants, each a syntax tree with one small fault.

Operators: comparisons to their neighbour and their opposite, ``and`` and ``or`` exchanged, ``not``
left out, conditions turned round, arithmetic exchanged, numbers one more, booleans turned round,
words (texts without a space) changed, returned values None, calls and assignments left out,
``break`` and ``continue`` exchanged.
"""

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.LShift: ast.RShift,
    ast.BitOr: ast.BitAnd,
}
UNTOUCHED = ("annotation", "returns", "decorator_list", "type_comment", "bases")

Change = Callable[[], None]
"""Makes the fault in the tree it was made for."""


@dataclass(frozen=True)
class Mutant:
    """One fault. ``key`` names it by the line's text, so that it outlives moved lines."""

    module: str
    line: int
    key: str
    tree: ast.Module


def mutants(module: str, source: str) -> Iterator[Mutant]:
    """All mutants of a module, in the order of its text."""
    lines = source.splitlines()
    seen: dict[str, int] = {}
    for number in range(sum(1 for _ in _sites(ast.parse(source)))):
        tree = ast.parse(source)
        line, what, change = next(islice(_sites(tree), number, None))
        change()
        ast.fix_missing_locations(tree)
        key = f"{module}.py: {lines[line - 1].strip()}: {what}"
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            key += f" ({seen[key]})"
        yield Mutant(module, line, key, tree)


def _sites(tree: ast.Module) -> Iterator[tuple[int, str, Change]]:
    """(line, what, change) of each place where a fault can be."""
    for parent, name, index, node in _nodes(tree):
        line: int = getattr(node, "lineno", 0)

        def put(
            new: ast.AST, parent: ast.AST = parent, name: str = name, index: int | None = index
        ) -> Change:
            if index is None:
                return lambda: setattr(parent, name, new)
            return lambda: getattr(parent, name).__setitem__(index, new)

        for what, new in _replacements(node, parent, name):
            yield line, what, put(new)


def _nodes(
    parent: ast.AST,
) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Every node below with its place: (parent, field, index in the field's list or None)."""
    for name, value in ast.iter_fields(parent):
        if name in UNTOUCHED:
            continue
        for index, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            if not isinstance(child, ast.AST) or _is_silent(child):
                continue
            yield parent, name, index, child
            yield from _nodes(child)


def _is_silent(node: ast.AST) -> bool:
    """Docstrings, imports and types do nothing."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    value = node.value if isinstance(node, ast.Subscript) else None
    return isinstance(value, ast.Name) and value.id in ("Literal", "Callable")


def _replacements(node: ast.AST, parent: ast.AST, field: str) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Compare(ops=[op]):
            for other in COMPARISONS.get(type(op), ()):
                new = copy.copy(node)
                new.ops = [other()]
                yield f"{type(op).__name__} to {other.__name__}", new
        case ast.BoolOp():
            new_op: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield "and/or exchanged", ast.BoolOp(new_op, node.values)
        case ast.UnaryOp(op=ast.Not()):
            yield "not left out", node.operand
        case ast.BinOp() if type(node.op) in ARITHMETIC:
            other_op = ARITHMETIC[type(node.op)]
            what = f"{type(node.op).__name__} to {other_op.__name__}"
            yield what, ast.BinOp(node.left, other_op(), node.right)
        case ast.Constant():
            yield from _constants(node)
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield "None returned", ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Delete():
            yield "left out", ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "left out", ast.Pass()
        case ast.Break():
            yield "continue", ast.Continue()
        case ast.Continue():
            yield "break", ast.Break()
        case ast.Name() | ast.Attribute() | ast.Call() if field == "test":
            yield "condition turned round", ast.UnaryOp(ast.Not(), node)
        case ast.IfExp():
            yield "always the first", node.body
            yield "always the second", node.orelse
        case _:
            pass
    if isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
        other_op = ARITHMETIC[type(node.op)]
        what = f"{type(node.op).__name__} to {other_op.__name__}"
        yield what, ast.AugAssign(node.target, other_op(), node.value)


def _constants(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    value = node.value
    if isinstance(value, bool):
        yield f"{value} to {not value}", ast.Constant(not value)
    elif isinstance(value, int):
        yield f"{value} to {value + 1}", ast.Constant(value + 1)
    elif isinstance(value, str) and value and " " not in value:
        yield f'"{value}" changed', ast.Constant(f"not {value}")


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None
