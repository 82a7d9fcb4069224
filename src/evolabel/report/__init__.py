"""Figures of results, and an HTML report that needs no internet."""

from evolabel.report.page import write_report

__all__ = ["write_report"]
