"""Changes of the tables, one file per version, run by Alembic."""
