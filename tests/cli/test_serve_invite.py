"""`evolabel serve invite`."""

import re

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("sqlalchemy")


@pytest.fixture
def database(tmp_path):
    """URL of a database with tables and no project."""
    from evolabel.server.log.engines import read_url
    from evolabel.server.project.service import Service

    url = f"sqlite:///{tmp_path}/evolabel.db"
    Service(read_url(url)).stop()
    return url


def test_invite_prints_a_link(command, database):
    told = command("serve", "invite", "omar", "--admin", "--database", database, "--url", "https://pumps.example/")
    assert told.code == 0
    assert re.fullmatch(r"https://pumps\.example/invite/[\w-]{43}\n", told.out)
    assert "works once" in told.err


def test_invite_needs_a_role_in_a_project_or_admin(command, database):
    assert "--admin alone" in command("serve", "invite", "anna", "--database", database).err
    unknown = command("serve", "invite", "anna", "--database", database, "--project", "no", "--role", "expert")
    assert "there is no project 'no'" in unknown.err
    assert unknown.code == 2


def test_programs_are_not_invited(command, database):
    refused = command("serve", "invite", "gateway", "--project", "p", "--role", "producer", "--database", database)
    assert refused.code == 2
    assert "programs have tokens" in refused.err


def test_tokens_end_and_people_are_listed(command, database):
    made = command("serve", "token", "eva", "--database", database, "--until", "2030-01-31")
    assert re.fullmatch(r"ev_[\w-]{43}\n", made.out)
    assert "cannot end at" in command("serve", "token", "eva", "--database", database, "--until", "2001-01-31").err
    assert command("serve", "user", "--database", database).out == "eva: administrator, has no password\n"
    assert "disabled since" in command("serve", "user", "eva", "--disable", "--database", database).out
    assert "one of --disable" in command("serve", "user", "--enable", "--database", database).err


def test_a_misspelt_database_is_not_made(command, tmp_path):
    missing = f"sqlite:///{tmp_path}/plnat.db"
    for words in (["token", "eva"], ["invite", "eva", "--admin"], ["user"], ["verify"], ["migrate"],
                  ["backup", str(tmp_path / "copy.db")]):  # fmt: skip
        refused = command("serve", *words, "--database", missing)
        assert refused.code == 2
        assert "no database" in refused.err
    assert list(tmp_path.iterdir()) == []
