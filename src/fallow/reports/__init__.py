"""The report: run directories in, one page and publication figures out. It never loads PyTorch."""

from fallow.reports.output import Written, write_report

__all__ = ["Written", "write_report"]
