"""The tables of the first release.

Until then they are those of `schema.py`. The first change after it is a file of its own, and writes them out here.
"""

from alembic import op

from evolabel.server.log.schema import METADATA

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make all tables."""
    METADATA.create_all(op.get_bind())
