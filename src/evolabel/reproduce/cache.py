"""Finished tasks of a reproduction on disk, so that an interrupted run continues with the unfinished ones."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from evolabel._utils.atomic_files import write_atomically
from evolabel.reproduce.results import Stage, Task, as_json


class FinishedTask(NamedTuple):
    """What a task returned (`value`, plain JSON values) and the processor time it took (`seconds`)."""

    value: Any
    seconds: float


@dataclass(frozen=True)
class TaskCache:
    """A `folder` with one small JSON file per task and stage, each with the settings it was computed with."""

    folder: Path

    def load(self, stage: Stage, task: Task, settings: dict[str, Any]) -> FinishedTask | None:
        """The stored result of `task` in `stage`.

        None if there is no file, if it is damaged, or if it was computed with other `settings`.
        """
        try:
            stored = json.loads(self._path(stage, task).read_bytes())
            same = stored["settings"] == json.loads(json.dumps(settings))
            return FinishedTask(stored["value"], stored["seconds"]) if same else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, stage: Stage, task: Task, settings: dict[str, Any], finished: FinishedTask) -> None:
        """Write what `task` returned in `stage` (`finished`), with the `settings` it was computed with."""
        path = self._path(stage, task)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, as_json({"settings": settings, **finished._asdict()}))

    def _path(self, stage: Stage, task: Task) -> Path:
        return self.folder / stage / f"{'-'.join(task)}.json"
