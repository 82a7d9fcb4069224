"""`Beside`: what a rule base needs of members that answer and learn each row beside its rules."""

from collections.abc import Callable
from typing import Any, ClassVar, Protocol


class Beside(Protocol):
    """Members that answer and learn each row in one compiled loop with the rules of a rule base."""

    loop: ClassVar[Callable[..., tuple[int, int]]]
    """The compiled loop that learns rows with all members, as `model.loops.rows.learn_rows`."""

    @property
    def packed(self) -> Any:
        """The members as the loop takes them."""

    def settle(self) -> None:
        """Change the members as the last row demands."""

    def give_up_slot(self) -> bool:
        """Merge away a rule that is not needed any more; return whether there was one."""
