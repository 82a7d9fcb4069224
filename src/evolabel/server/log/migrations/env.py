"""What Alembic runs: the migrations, inside the transaction of the connection it was given."""

from alembic import context

from evolabel.server.log.schema import METADATA


def run_migrations() -> None:
    """Run the migrations through the connection in the attributes of the configuration."""
    connection = context.config.attributes["connection"]
    context.configure(connection=connection, target_metadata=METADATA, transactional_ddl=True)
    with context.begin_transaction():
        context.run_migrations()


if __name__ == "env_py":  # the name under which Alembic loads this file
    run_migrations()
