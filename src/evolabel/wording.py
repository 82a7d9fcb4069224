"""How things are written: objects as the calls that make them, numbers of things, names with their article."""

from inspect import signature


def call_of(thing: object) -> str:
    """The call, for a thing that keeps every parameter of its class as an attribute of the same name."""
    told = [
        f"{name}={getattr(thing, name)!r}"
        for name, parameter in signature(type(thing)).parameters.items()
        if repr(getattr(thing, name)) != repr(parameter.default)
    ]
    return f"{type(thing).__name__}({', '.join(told)})"


def counted(number: int, thing: str) -> str:
    """So many things: "1 label", "2 labels"."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def with_article(name: object) -> str:
    """The name with a or an before it, by its first letter."""
    return f"{'an' if str(name)[:1].lower() in 'aeiou' else 'a'} {name}"
