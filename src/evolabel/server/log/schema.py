"""Tables of the service, for SQLite and PostgreSQL.

The log is the truth. `sample`, `question`, `response`, `decision` and `activity` are indexes that are written in the
transaction of their records and can be made again from the log; `per_minute` and `per_hour_label` are sums over it.
Times are microseconds since 1970, UTC; JSON is text in canonical form.
"""

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    event,
    text,
)

METADATA = MetaData()
NUMBER = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up by itself in INTEGER columns alone

STATES = ("active", "paused", "archived")
CAUSES = ("answered", "refused", "expired", "given_up")
LIMITS = ("max_open", "per_hour", "paused")
ROLES = ("producer", "bridge", "annotator", "expert", "operator")


def _one_of(column: str, values: tuple[str, ...]) -> CheckConstraint:
    """A constraint: `column` is null or one of `values`."""
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IS NULL OR {column} IN ({listed})", name=f"{column}_known")


def _project_key() -> Column[int]:
    """The first column of a table that belongs to projects."""
    return Column("project_id", NUMBER, ForeignKey("project.id"), primary_key=True, autoincrement=False)


def _key(name: str) -> Column[int]:
    """A whole number `name` that is part of a primary key."""
    return Column(name, NUMBER, primary_key=True, autoincrement=False)


def _count(name: str) -> Column[int]:
    """A number of things that happened, `name`."""
    return Column(name, BigInteger, nullable=False, server_default="0")


PROJECT = Table(
    "project",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    Column("slug", Text, nullable=False, unique=True),
    Column("title", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("head_seq", BigInteger, nullable=False),
    Column("head_chain", LargeBinary, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    _one_of("state", STATES),
)

LOG = Table(
    "log",
    METADATA,
    _project_key(),
    _key("seq"),
    Column("epoch", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("v", Integer, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("actor_id", BigInteger),
    Column("key", Text),
    Column("part", Integer, nullable=False),
    Column("body_hash", LargeBinary),
    Column("payload", Text),
    Column("payload_hash", LargeBinary, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("chain", LargeBinary, nullable=False),
    Index("log_key", "project_id", "key", "part", unique=True, sqlite_where=text("key IS NOT NULL"),
          postgresql_where=text("key IS NOT NULL")),
    Index("log_kind", "project_id", "kind", "seq"),
)  # fmt: skip

SAMPLE = Table(
    "sample",
    METADATA,
    _project_key(),
    _key("number"),
    Column("seq", BigInteger, nullable=False),
    Column("external_id", Text),
    Column("at", BigInteger, nullable=False),
    Column("source", Text),
    Column("asked", Boolean, nullable=False),
    Column("held", Text),
    _one_of("held", LIMITS),
    Index("sample_external", "project_id", "external_id", unique=True, sqlite_where=text("external_id IS NOT NULL"),
          postgresql_where=text("external_id IS NOT NULL")),
    Index("sample_at", "project_id", "at"),
)  # fmt: skip

QUESTION = Table(
    "question",
    METADATA,
    _project_key(),
    _key("number"),
    Column("seq", BigInteger, nullable=False),
    Column("cost", BigInteger, nullable=False),
    Column("labels", Text, nullable=False),
    Column("reasons", Text, nullable=False),
    Column("needed", Integer, nullable=False),
    Column("closed_seq", BigInteger),
    Column("cause", Text),
    _one_of("cause", CAUSES),
    Index("question_open", "project_id", "number", sqlite_where=text("closed_seq IS NULL"),
          postgresql_where=text("closed_seq IS NULL")),
)  # fmt: skip

RESPONSE = Table(
    "response",
    METADATA,
    _project_key(),
    _key("number"),
    _key("person_id"),
    _key("revision"),
    Column("seq", BigInteger, nullable=False),
    Column("status", Text, nullable=False),
    Column("answers", Text, nullable=False),
    Column("took_ms", BigInteger),
    Column("note", Text),
    Column("saw_prediction", Boolean, nullable=False),
    Column("final_at", BigInteger),
    _one_of("status", ("submitted", "refused", "withdrawn", "correction")),
    Index("response_person", "project_id", "person_id", "seq"),
)

DECISION = Table(
    "decision",
    METADATA,
    _project_key(),
    _key("number"),
    _key("seq"),
    Column("person_id", BigInteger, nullable=False),
    Column("answers", Text, nullable=False),
    Column("note", Text),
)

LEASE = Table(
    "lease",
    METADATA,
    _project_key(),
    _key("number"),
    _key("person_id"),
    Column("until", BigInteger, nullable=False),
    Index("lease_until", "until"),
)

DRAFT = Table(
    "draft",
    METADATA,
    _project_key(),
    _key("number"),
    _key("person_id"),
    Column("answers", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
)

PER_MINUTE = Table(
    "per_minute",
    METADATA,
    _project_key(),
    _key("minute"),
    *(_count(name) for name in ("samples", "asked", "answered", "refused", "expired", "given_up")),
    *(_count(f"held_{limit}") for limit in LIMITS),
)

PER_HOUR_LABEL = Table(
    "per_hour_label",
    METADATA,
    _project_key(),
    _key("hour"),
    Column("label", Text, primary_key=True),
    *(_count(name) for name in ("asked", "judged", "correct")),
)

ACTIVITY = Table(
    "activity",
    METADATA,
    _project_key(),
    _key("seq"),
    _key("part"),
    Column("kind", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("actor_id", BigInteger),
    Column("args", Text, nullable=False),
    Index("activity_kind", "project_id", "kind", "seq"),
)

SNAPSHOT = Table(
    "snapshot",
    METADATA,
    _project_key(),
    _key("seq"),
    Column("chain", LargeBinary, nullable=False),
    Column("seal", Text, key="checksum", nullable=False),
    Column("versions", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
)

BLOB = Table(
    "blob",
    METADATA,
    _project_key(),
    Column("hash", LargeBinary, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    Column("at", BigInteger, nullable=False),
)

FAILURE = Table(
    "failure",
    METADATA,
    _project_key(),
    Column("body_hash", LargeBinary, primary_key=True),
    Column("count", Integer, nullable=False),
    Column("error", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
)

EFFECT = Table(
    "effect",
    METADATA,
    _project_key(),
    _key("number"),
    Column("of", Integer, nullable=False),
    Column("changed", Integer, nullable=False),
    Column("labels", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
)

UPLOAD = Table(
    "upload",
    METADATA,
    Column("key", Text, primary_key=True),
    Column("person_id", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
)

UPLOAD_PART = Table(
    "upload_part",
    METADATA,
    Column("key", Text, primary_key=True),
    _key("part"),
    Column("data", LargeBinary, nullable=False),
)

WEBHOOK = Table(
    "webhook",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    Column("project_id", NUMBER, ForeignKey("project.id"), nullable=False),
    Column("url", Text, nullable=False),
    Column("secret", Text, nullable=False),
    Column("kinds", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("part", Integer, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("next_at", BigInteger, nullable=False),
)

WEBHOOK_TRY = Table(
    "webhook_try",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    Column("webhook_id", NUMBER, ForeignKey("webhook.id"), nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("status", Integer),
    Column("error", Text, nullable=False),
    Index("webhook_try_of", "webhook_id", "id"),
)

PERSON = Table(
    "person",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("display", Text, nullable=False),
    Column("password", Text),
    Column("admin", Boolean, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("disabled", BigInteger),
    Column("preferences", Text),
)

MEMBER = Table(
    "member",
    METADATA,
    _project_key(),
    Column("person_id", NUMBER, ForeignKey("person.id"), primary_key=True, autoincrement=False),
    Column("role", Text, nullable=False),
    _one_of("role", ROLES),
)

TOKEN = Table(
    "token",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    Column("person_id", NUMBER, ForeignKey("person.id"), nullable=False),
    Column("project_id", NUMBER, ForeignKey("project.id")),
    Column("role", Text),
    Column("name", Text, nullable=False),
    Column("per_minute", Integer),
    Column("digest", LargeBinary, nullable=False),
    Column("hint", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger),
    Column("used", BigInteger),
    Column("revoked", BigInteger),
    UniqueConstraint("digest", name="token_digest"),
    _one_of("role", ROLES),
)

SESSION = Table(
    "session",
    METADATA,
    Column("digest", LargeBinary, primary_key=True),
    Column("person_id", NUMBER, ForeignKey("person.id"), nullable=False),
    Column("csrf", LargeBinary, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("seen", BigInteger, nullable=False),
    Column("until", BigInteger, nullable=False),
    Index("session_person", "person_id"),
)

INVITE = Table(
    "invite",
    METADATA,
    Column("digest", LargeBinary, primary_key=True),
    Column("person_id", NUMBER, ForeignKey("person.id"), nullable=False),
    Column("project_id", NUMBER, ForeignKey("project.id")),
    Column("role", Text),
    Column("admin", Boolean, nullable=False),
    Column("made_by", BigInteger),
    Column("created", BigInteger, nullable=False),
    Column("until", BigInteger, nullable=False),
    Column("used", BigInteger),
    _one_of("role", ROLES),
)

AUDIT = Table(
    "audit",
    METADATA,
    Column("id", NUMBER, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("actor_id", BigInteger),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("address", Text),
    Column("request_id", Text),
)


def of_record(table: Table) -> ColumnElement[bool]:
    """Return the condition of a join: the row of `table` was made by the record of the log."""
    return (LOG.c.project_id == table.c.project_id) & (LOG.c.seq == table.c.seq)


def _after_create(table: Table, dialect: str, statement: str) -> None:
    """Execute `statement` after `table` was created in a database of this `dialect`."""
    ddl = DDL(statement)  # type: ignore[no-untyped-call]
    event.listen(table, "after_create", ddl.execute_if(dialect=dialect))


def _append_only(table: Table, allowed: str) -> None:
    """Add triggers that refuse DELETE on `table`, and UPDATE unless the condition `allowed` holds."""
    name, refusal = table.name, f"{table.name} is append only"
    for operation, when in (("DELETE", ""), ("UPDATE", f"WHEN (NOT ({allowed}))")):
        trigger = f"{name}_no_{operation.lower()}"
        _after_create(
            table,
            "sqlite",
            f"CREATE TRIGGER {trigger} BEFORE {operation} ON {name} {when} BEGIN SELECT RAISE(ABORT, '{refusal}'); END",
        )
        _after_create(
            table,
            "postgresql",
            f"CREATE OR REPLACE FUNCTION refuse_{name}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{refusal}'; END $$",
        )
        _after_create(
            table,
            "postgresql",
            f"CREATE TRIGGER {trigger} BEFORE {operation} ON {name} FOR EACH ROW {when} "
            f"EXECUTE FUNCTION refuse_{name}()",
        )


def _only_payload_goes() -> str:
    """The condition on an UPDATE of the log: the payload becomes null, or was null; every other column stays.

    The hash of the payload stays, so a payload that is put back and differs is found by reading.
    """
    kept = [column.name for column in LOG.columns if column.name != "payload"]
    same = [f"(NEW.{name} = OLD.{name} OR (NEW.{name} IS NULL AND OLD.{name} IS NULL))" for name in kept]
    return " AND ".join(["(NEW.payload IS NULL OR OLD.payload IS NULL)", *same])


APPEND_ONLY = (LOG.name, AUDIT.name)
"""Tables whose rows stay as they are."""

_append_only(LOG, _only_payload_goes())
_append_only(AUDIT, "1 = 0")
