"""How an object is written: as the call that makes it, without what is as by default."""

from inspect import signature


def call_of(thing: object) -> str:
    """The call, for a thing that keeps every parameter of its class as an attribute of the same name."""
    told = [
        f"{name}={getattr(thing, name)!r}"
        for name, parameter in signature(type(thing)).parameters.items()
        if repr(getattr(thing, name)) != repr(parameter.default)
    ]
    return f"{type(thing).__name__}({', '.join(told)})"
