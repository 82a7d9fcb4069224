"""Requests that the service itself sends, to addresses that people name: only to the public network.

The name is resolved once, every address found is checked, and the connection goes to the first of them: a name that
resolves otherwise a moment later changes nothing. Answers that redirect are refused.
"""

import contextlib
import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Mapping, Sequence
from urllib.parse import SplitResult, urlsplit

from evolabel.errors import EvolabelError, ParameterError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_SECONDS = 10.0  # to connect, to begin TLS, and of the request with its answer
_LONGEST_URL = 2000
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class RefusedError(EvolabelError, OSError):
    """An address cannot be reached, must not be reached, or has not accepted what was sent."""


def check_url(url: str) -> SplitResult:
    """Return the parts of `url`; ParameterError unless it is one of HTTP or HTTPS with a host and no password."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    is_plain = url.isascii() and url.isprintable() and " " not in url and len(url) <= _LONGEST_URL
    if not is_plain or parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ParameterError(f"{url[:50]!r} is no address; write one such as https://example.org/hook")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise ParameterError("the address has a password or a fragment; leave it out, messages are signed")
    return parts


def is_public(address: Address) -> bool:
    """Return whether `address` belongs to the public network, also where it stands for another one."""
    inner: Address | None = None
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address.teredo is not None:
            inner = address.teredo[1]
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if address.is_site_local:  # which Python counts as global
            return False
    if inner is not None:
        return is_public(inner)
    return address.is_global and not address.is_multicast and not address.is_reserved


def address_of_host(parts: SplitResult, allowed: Sequence[Network]) -> Address:
    """Return the address to connect to for the URL of `parts`: public, or in one of the networks `allowed`.

    RefusedError if its name has none, or one that is neither, or for HTTP outside of the networks.
    """
    host, port = str(parts.hostname), parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    except (OSError, UnicodeError, ValueError) as error:
        raise RefusedError(f"{host} has no address ({error})") from None
    inside = [any(address.version == net.version and address in net for net in allowed) for address in addresses]
    for address, is_allowed in zip(addresses, inside, strict=True):
        if not is_allowed and not is_public(address):
            raise RefusedError(f"{host} is {address}, which is not public; the operator of the server can allow it")
    if parts.scheme == "http" and not all(inside):
        raise RefusedError(f"{host} would get messages without TLS; use https")
    return addresses[0]


def post(url: str, body: bytes, headers: Mapping[str, str], allowed: Sequence[Network] = ()) -> int:
    """Return the status with which `url` has answered a POST of `body` with `headers`; `allowed` as to find a host.

    RefusedError if there is no connection, no TLS or no answer within 10 seconds each, or another answer than 2xx.
    """
    parts = check_url(url)
    address = address_of_host(parts, allowed)
    connection = _connection(parts, str(address))
    timer = threading.Timer(_SECONDS, _cut, [connection])
    timer.daemon = True
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.connect()  # has the same limit; TLS changes the socket, which the timer must not miss
        timer.start()
        connection.request("POST", path, body, dict(headers))
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise RefusedError(f"no answer: {str(error) or type(error).__name__}") from None
    finally:
        timer.cancel()
        connection.close()
    if 300 <= status < 400:
        raise RefusedError(f"answered {status}: redirects are not followed; use the address that it leads to")
    if not 200 <= status < 300:
        raise RefusedError(f"answered {status}")
    return status


def _cut(connection: http.client.HTTPConnection) -> None:
    """End a request that takes too long, whatever it waits for."""
    with contextlib.suppress(OSError, AttributeError):
        connection.sock.shutdown(socket.SHUT_RDWR)


class _Pinned(http.client.HTTPConnection):
    """A connection to `address`, whatever the name of the host resolves to."""

    def __init__(self, host: str, port: int | None, address: str, default_port: int) -> None:
        self.default_port = default_port
        super().__init__(host, port, timeout=_SECONDS)
        self._address = address

    def connect(self) -> None:
        """Connect to the address."""
        self.sock = socket.create_connection((self._address, self.port), _SECONDS)


class _PinnedWithTls(_Pinned):
    """The same with TLS; the certificate must be that of the name."""

    def connect(self) -> None:
        """Connect to the address, and check the certificate."""
        super().connect()
        self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)


def _connection(parts: SplitResult, address: str) -> http.client.HTTPConnection:
    kind, port = (_PinnedWithTls, 443) if parts.scheme == "https" else (_Pinned, 80)
    return kind(str(parts.hostname), parts.port, address, port)
