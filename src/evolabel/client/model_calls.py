"""Requests for rules, explanations, events and invitations of a project, beside those of `ProjectCalls`."""

from typing import Any
from urllib.parse import quote

from evolabel.client.calls import Call, ProjectCalls, list_of, sample_name
from evolabel.client.results import ModelRule, ProjectEvent


class ModelCalls:
    """Requests about the model and the people of `project`, by its `ProjectCalls`."""

    @staticmethod
    def rules(project: ProjectCalls, *, top: int | None = None) -> Call[list[ModelRule]]:
        """Return the rules of the model: written ones, threshold rules, then the `top` best supported learned ones."""
        query = "" if top is None else f"?top={top}"
        return project.call("GET", f"/rules{query}", lambda d: list_of(ModelRule.read, d["rules"]))

    @staticmethod
    def explain(project: ProjectCalls, sample: int | str, label: str | None = None) -> Call[dict[str, Any]]:
        """Return what was predicted for a stored `sample` then, and the output of a `label` now in parts that add up.

        The sample is named by its number or id; without a label it is the first one asked about, or the most likely.
        """
        query = "" if label is None else f"?label={quote(label, safe='')}"
        return project.call("GET", f"/samples/{sample_name(sample)}/explanation{query}", dict)

    @staticmethod
    def events(project: ProjectCalls, *, after: int = 0, kind: str = "", limit: int = 100) -> Call[list[ProjectEvent]]:
        """Return what happened behind record `after`, oldest first: acts of people, and what the model changed.

        Only of a `kind` that begins so, such as `model.drift`; at most `limit`. The last `seq` is the next `after`.
        """
        query = f"after={after}&limit={limit}&kind={quote(kind, safe='')}"
        return project.call("GET", f"/activity?{query}", lambda d: list_of(ProjectEvent.read, d["activity"]))

    @staticmethod
    def invite(project: ProjectCalls, person: str, role: str = "annotator") -> Call[str]:
        """Return a one-time link by which a new `person` chooses a password and gets a `role` in the project."""
        body = {"person": person, "role": role}
        return project.call("POST", "/invites", lambda d: str(d["link"]), body, repeatable=False)
