"""Parts of a reproduction on disk: an interrupted one goes on with those that are done."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from evolabel._utils.atomic_files import write_atomically
from evolabel.reproduce.results import Stage, Task, as_json


class Part(NamedTuple):
    """What was found, and the processor time that took."""

    found: Any
    seconds: float


@dataclass(frozen=True)
class Parts:
    """A folder with one small file per task and stage, each with the settings it was made under.

    A part that was made under other settings counts as missing, and is written anew.
    """

    folder: Path

    def load(self, stage: Stage, task: Task, settings: dict[str, Any]) -> Part | None:
        """A part; None if it was never looked for, or under other settings, or the file is broken."""
        try:
            part = json.loads(self._path(stage, task).read_bytes())
            known = part["settings"] == json.loads(json.dumps(settings))
            return Part(part["found"], part["seconds"]) if known else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, stage: Stage, task: Task, settings: dict[str, Any], part: Part) -> None:
        """Keep what was found."""
        path = self._path(stage, task)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, as_json({"settings": settings, **part._asdict()}))

    def _path(self, stage: Stage, task: Task) -> Path:
        return self.folder / stage / f"{'-'.join(task)}.json"
