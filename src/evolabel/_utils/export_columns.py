"""Columns of the tables that the labelling service exports, with their types."""

from collections.abc import Iterable, Mapping
from typing import Any

ANSWER_COLUMNS: dict[str, type] = {
    "number": int, "id": str, "source": str, "asked_at": str, "person": str, "revision": int, "status": str, "at": str,
    "label": str, "answer": int, "asked": bool, "saw_prediction": bool, "took_ms": int, "note": str,
    "stands": bool,
}  # fmt: skip
"""Columns of an answer: one row per label, a refusal without one; it `stands` if it is the last and not taken back."""
RECORD_COLUMNS: dict[str, type] = {
    "seq": int, "epoch": int, "kind": str, "v": int, "at": int, "actor_id": int, "key": str, "part": int,
    "body_hash": str, "payload": str, "payload_hash": str, "outcome": str, "chain": str,
}  # fmt: skip
"""Columns of a record of the log; times are microseconds since 1970."""
_SAMPLE = {"number": int, "id": str, "source": str, "at": str, "held": str, "labels": str, "asked": str}


def sample_columns(features: Iterable[Mapping[str, Any]], labels: Iterable[str]) -> dict[str, type]:
    """Return the columns of a sample with these `features` and `labels`: x.NAME, p.NAME for its prediction, y.NAME."""
    values = {f"x.{item['name']}": str if item["kind"] == "text" else float for item in features}
    names = list(labels)
    return {**_SAMPLE, **values, **{f"p.{name}": float for name in names}, **{f"y.{name}": int for name in names}}


def flat_sample(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return an exported sample, `row`, with one value for each of its columns."""
    parts = {"x": row.get("x"), "p": row["prediction"], "y": row.get("y")}
    flat = {f"{letter}.{name}": value for letter, found in parts.items() for name, value in (found or {}).items()}
    asked = (row.get("question") or {}).get("labels", [])
    return {**row, **flat, "labels": ";".join(row["labels"]), "asked": ";".join(asked)}
