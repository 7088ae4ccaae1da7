"""What source files say beside the code: comments at the end of a line, headings within a class, whole signatures."""

import ast
import inspect
import io
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from textwrap import indent
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

_WIDTH = 100


def described(thing: object) -> str:
    """Return a docstring as it is to be read in a page."""
    text = inspect.getdoc(thing)
    assert text, f"{thing} has no docstring"
    return text


def annotated(cls: type) -> Iterator[tuple[str, str, str]]:
    """Yield each field of a class with its type, and what it is ("" where its name says it)."""
    comments = {name: comment for base in reversed(cls.__mro__) for name, comment in _commented(base).items()}
    for name, hint in get_type_hints(cls, include_extras=True).items():
        if name.startswith("_") or get_origin(hint) is ClassVar:
            continue
        metadata = getattr(hint, "__metadata__", ())
        description = next((m.description for m in reversed(metadata) if getattr(m, "description", None)), None)
        yield name, _plain(hint), description or comments.get(name, "")


def _plain(hint: Any) -> str:
    """Return a type as people write it, without what is annotated."""
    if get_origin(hint) is Annotated:
        return _plain(hint.__origin__)
    arguments = [_plain(argument) for argument in get_args(hint) if argument is not Ellipsis]
    match get_origin(hint):
        case None:
            return "None" if hint is NoneType else getattr(hint, "__name__", str(hint))
        case origin if origin in (Union, UnionType):
            return " | ".join(arguments)
        case origin if origin is Literal:
            return f"Literal[{', '.join(map(repr, get_args(hint)))}]"
        case origin if origin is tuple:
            return f"tuple[{', '.join(arguments)}, ...]"
        case origin:
            return f"{origin.__name__}[{', '.join(arguments)}]"


@cache  # the bases of one are those of many
def _commented(cls: type) -> dict[str, str]:
    """Return each annotated name of a class that has a comment behind it, with the comment."""
    module = _module(cls.__module__)
    if cls.__qualname__ not in module.classes:
        return {}
    comments = {line: text for line, _, text in module.comments}
    return {
        one.target.id: comments[one.end_lineno]
        for one in module.classes[cls.__qualname__].body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and one.end_lineno in comments
    }


def attributes(cls: type) -> Iterator[tuple[str, str]]:
    """Yield each annotated name of a class with the docstring that follows it."""
    body = _module(cls.__module__).classes[cls.__qualname__].body
    for one, after in pairwise(body):
        match one, after:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(text))):
                yield name, text


def methods(cls: type) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield each public method with the heading (a comment line within the class) that it stands under.

    Of one with overloads it is the last definition, which has the docstring.
    """
    module = _module(cls.__module__)
    definition = module.classes[cls.__qualname__]
    headings = [
        (line, text) for line, column, text in module.comments if line > definition.lineno and column == len("    ")
    ]
    for one in definition.body:
        if isinstance(one, ast.FunctionDef) and not one.name.startswith("_") and not one.decorator_list:
            yield next((text for line, text in reversed(headings) if line < one.lineno), ""), one


class _Module(NamedTuple):
    """The classes of a module by their names, and its comments for readers as (line, column, text)."""

    classes: dict[str, ast.ClassDef]
    comments: list[tuple[int, int, str]]


@cache  # inspect would read all of it for each class
def _module(name: str) -> _Module:
    """Return a module of Python; nothing of one in C."""
    try:
        source = inspect.getsource(sys.modules[name])
    except (OSError, TypeError):
        return _Module({}, [])
    classes = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
    return _Module(classes, _comments(source))


def signature(name: str, function: ast.FunctionDef) -> str:
    """Return how a function is called: on one line where that fits, else one parameter a line."""
    parameters = list(_parameters(function.args))
    returned = "" if function.returns is None else f" -> {_type(function.returns)}"
    line = f"{name}({', '.join(parameters)}){returned}"
    if len(line) <= _WIDTH:
        return line
    listed = indent("".join(f"{parameter},\n" for parameter in parameters), "    ")
    return f"{name}(\n{listed}){returned}"


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    defaults = [None] * (len(arguments.args) - len(arguments.defaults)) + list(arguments.defaults)
    yield from (_parameter(a, d) for a, d in zip(arguments.args, defaults, strict=True) if a.arg != "self")
    if arguments.vararg:
        yield f"*{_parameter(arguments.vararg, None)}"
    elif arguments.kwonlyargs:
        yield "*"
    yield from (_parameter(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    if arguments.kwarg:
        yield f"**{_parameter(arguments.kwarg, None)}"


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    text = argument.arg if argument.annotation is None else f"{argument.arg}: {_type(argument.annotation)}"
    return text if default is None else f"{text} = {ast.unparse(default)}"


def _type(annotation: ast.expr) -> str:
    return str(annotation.value) if isinstance(annotation, ast.Constant) else ast.unparse(annotation)


def _comments(source: str) -> list[tuple[int, int, str]]:
    """Return (line, column, text) of each comment that is for readers, not for a tool."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    found = [(*t.start, t.string.removeprefix("#").strip()) for t in tokens if t.type == tokenize.COMMENT]
    return [comment for comment in found if not comment[2].startswith(("noqa", "type:"))]
