"""`evolabel serve invite`."""

import re

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("sqlalchemy")


def test_invite_prints_a_link(command, tmp_path):
    database = f"sqlite:///{tmp_path}/evolabel.db"
    told = command("serve", "invite", "omar", "--admin", "--database", database, "--url", "https://pumps.example/")
    assert told.code == 0
    assert re.fullmatch(r"https://pumps\.example/invite/[\w-]{43}\n", told.out)
    assert "works once" in told.err


def test_invite_needs_a_role_in_a_project_or_admin(command, tmp_path):
    database = f"sqlite:///{tmp_path}/evolabel.db"
    assert "--admin alone" in command("serve", "invite", "anna", "--database", database).err
    unknown = command("serve", "invite", "anna", "--database", database, "--project", "no", "--role", "expert")
    assert "there is no project 'no'" in unknown.err
    assert unknown.code == 2
