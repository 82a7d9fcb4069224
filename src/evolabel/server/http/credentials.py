"""The token in the headers of a request."""

import base64
import binascii

from fastapi import Request

BASIC = "/ls/"
"""Beginning of the addresses that take a token as the password of Basic authentication, as Label Studio sends it."""


def token_in(request: Request) -> str | None:
    """Return the token that `request` carries, or None."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    value = value.strip()
    if scheme.lower() == "bearer":
        return value or None
    if scheme.lower() != "basic" or not request.url.path.startswith(BASIC):
        return None
    try:
        return base64.b64decode(value, validate=True).decode().partition(":")[2] or None
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None


def needed_header(request: Request) -> str:
    """Return what the sender of `request`, which has no valid token, is to do."""
    if request.url.path.startswith(BASIC):
        return "give Label Studio a valid token of the role bridge as the password of Basic authentication"
    return "send the header Authorization: Bearer ev_... with a valid token"


def challenge(request: Request) -> dict[str, str]:
    """Return the header by which a response to `request` asks for a token."""
    return {"WWW-Authenticate": "Basic" if request.url.path.startswith(BASIC) else "Bearer"}
