"""A tiny data set in MULAN's form, published at some address, for tests of named data sets."""

import hashlib
from pathlib import Path

from evolabel.streams.named.catalogue import DataFile, Entry

HEADER = """@relation pond
@attribute depth numeric
@attribute site {n,s,w}
@attribute frogs {0,1}
@attribute newts {0,1}
@data
"""
CONTENTS = {
    "pond-train.arff": HEADER + "0.5,n,1,0\n0.25,w,0,0\n",
    "pond-test.arff": HEADER + "?,s,1,1\n",
    "pond.xml": '<labels><label name="frogs"/><label name="newts"/></labels>',
}


def publish(folder: Path) -> str:
    """Write the files; the address of their folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in CONTENTS.items():
        (folder / name).write_text(text)
    return folder.as_uri()


def digest(name: str) -> str:
    return hashlib.sha256(CONTENTS[name].encode()).hexdigest()


def pond(base: str | None, *, known: bool = True, **changes) -> Entry:
    """The entry; with `known`, its ARFF files have digests."""
    *parts, label_file = [
        DataFile(name, base and f"{base}/{name}", digest(name) if known and name.endswith(".arff") else None)
        for name in CONTENTS
    ]
    facts = {"folder": "pond", "rows": 3, "features": 2, "labels": 2, "split": 2} | changes
    return Entry("pond", tuple(parts), label_file, **facts)
