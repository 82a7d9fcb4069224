"""What `evolabel` alone prints: what it is, and what to try next. Nothing is imported for it."""

from evolabel import __version__
from evolabel._utils.optional import install_command

ABOUT = "Learn several labels at once from a stream, with rules a person can read."
"""The first sentence of the help."""

FIRST_STEPS = {
    "See what it finds in a plant with known faults": "evolabel demo",
    "Learn a data set and show the accuracy": "evolabel run",
    "Learn a file, write a report and the model": "evolabel run my.csv --labels fault_a,fault_b --out results",
    "Print the rules of that model": "evolabel rules results/model.safetensors",
    "Predict the labels of new rows": "evolabel predict results/model.safetensors today.csv",
    "Label with people, in a browser": "evolabel serve --demo",
    "Look at the installation": "evolabel doctor",
}
"""Commands by what they are for."""


def first_steps() -> str:
    """Return the version and the first steps as lines."""
    steps = [line for what, words in FIRST_STEPS.items() for line in (f"  {what}:", f"    {words}")]
    more = (
        "All commands: evolabel --help. Examples of each: evolabel run --help and so on.\n"
        f"They need: {install_command('cli', 'report', 'server')}"
    )
    return "\n".join([f"evolabel {__version__}. {ABOUT}", "", "What to try next:", *steps, "", more, ""])
