"""Results to look at: figures, and one page that opens without internet."""

from evolabel.report.page import write_report

__all__ = ["write_report"]
