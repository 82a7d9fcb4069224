"""Passwords: hashed by scrypt, two at a time, and refused while too many wait; limits of failed sign-ins."""

import asyncio
import base64
import functools
import hashlib
import hmac
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor

from evolabel.server.people.policies import SlowDownError

SHORTEST = 12  # characters
_LONGEST = 200
_COST, _BLOCK, _PARALLEL = 2**17, 8, 1  # 128 MiB of memory for each hash
_MEMORY = 256 * 1024 * 1024
_AT_ONCE = 2
_MOST_WAITING = 20
_FIRST_TRIED = (
    "password",
    "passwort",
    "welcome",
    "letmein",
    "iloveyou",
    "admin",
    "qwerty",
    "dragon",
    "monkey",
    "evolabel",
)
_KEYS = ("abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "qwertzuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm",
         "1q2w3e4r5t6y7u8i9o0p", "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p")  # fmt: skip
_ROWS = (*_KEYS, *(keys[::-1] for keys in _KEYS))
_SHORTEST_RUN = 4
_FEWEST_LEFT = 6  # characters that are neither a run nor such a word
_NO_PERSON = "scrypt$" + "A" * 22 + "$" + "A" * 43  # a hash of no password, for names that do not exist


def password_fault(password: str, name: str) -> str | None:
    """Return why `password` cannot be that of the person called `name`: short, long or common; else None."""
    if len(password) < SHORTEST:
        return "short"
    if len(password) > _LONGEST:
        return "long"
    plain = password.casefold()
    if _is_guessable(plain, name):
        return "common"
    return None


def hash_password(password: str) -> str:
    """Return the hash of `password` with a salt of its own, as it is stored."""
    salt = secrets.token_bytes(16)
    return f"scrypt${_text(salt)}${_text(_scrypt(password, salt))}"


def is_password(password: str, stored: str | None) -> bool:
    """Return whether `password` has the hash `stored`; as slow where nothing is stored."""
    _, salt, expected = (stored or _NO_PERSON).split("$")
    return hmac.compare_digest(_scrypt(password, _bytes(salt)), _bytes(expected)) and stored is not None


class PasswordQueue:
    """Hashes passwords in threads of its own, a few at a time, so that memory is bounded."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="passwords")
        self._running = 0

    async def check(self, password: str, stored: str | None) -> bool:
        """Return whether `password` has the hash `stored`; SlowDownError while too many wait."""
        return bool(await self._run(functools.partial(is_password, password[:_LONGEST], stored)))

    async def hash(self, password: str) -> str:
        """Return the hash of `password`; SlowDownError while too many wait."""
        return str(await self._run(functools.partial(hash_password, password)))

    async def _run(self, work: "functools.partial[bool] | functools.partial[str]") -> bool | str:
        if self._running >= _AT_ONCE + _MOST_WAITING:
            raise SlowDownError("too many people sign in; try again in 10 s", 10.0)
        self._running += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._running -= 1


def _is_guessable(plain: str, name: str) -> bool:
    """Return whether a password in lower case is mostly repetition, runs of keys, or words that guessers try first."""
    if len(set(plain)) < 5 or plain in (plain + plain)[1:-1]:
        return True
    for word in (*_FIRST_TRIED, *([name.casefold()] if name else [])):
        plain = plain.replace(word, " ")
    return len(_without_runs(plain).replace(" ", "")) < _FEWEST_LEFT


def _without_runs(plain: str) -> str:
    """Return `plain` without pieces of four or more characters that follow each other on a row of keys."""
    kept, start = "", 0
    while start < len(plain):
        end = start + _SHORTEST_RUN
        while end <= len(plain) and any(plain[start:end] in row for row in _ROWS):
            end += 1
        end -= 1
        length = end - start if end - start >= _SHORTEST_RUN else 0
        kept += "" if length else plain[start]
        start += length or 1
    return kept


def _scrypt(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=_COST, r=_BLOCK, p=_PARALLEL, maxmem=_MEMORY, dklen=32)


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


_WINDOW = 600.0  # seconds
_MOST_OF_PAIR = 20
_MOST_OF_ADDRESS = 100
_MOST_KEYS = 50_000


class SignInLimits:
    """Counts failures of the last ten minutes by a `clock` of seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[Hashable, deque[float]] = {}
        self._lock = threading.Lock()

    def wait(self, name: str, address: str) -> float:
        """Return the seconds until a person called `name` may try again from `address`; 0 if at once."""
        with self._lock:
            pair, alone = self._left((name, address), _MOST_OF_PAIR), self._left(address, _MOST_OF_ADDRESS)
        return max(pair, alone)

    def fail(self, name: str, address: str) -> None:
        """Count a failure of `name` from `address`."""
        now = self._clock()
        with self._lock:
            if len(self._failures) > _MOST_KEYS:
                self._failures = {key: times for key, times in self._failures.items() if times[-1] > now - _WINDOW}
            for key, most in (((name, address), _MOST_OF_PAIR), (address, _MOST_OF_ADDRESS)):
                self._failures.setdefault(key, deque(maxlen=most)).append(now)

    def _left(self, key: Hashable, most: int) -> float:
        """Return the seconds until fewer than `most` failures of `key` lie within the window."""
        times = self._failures.get(key)
        return 0.0 if times is None or len(times) < most else max(0.0, times[0] + _WINDOW - self._clock())
