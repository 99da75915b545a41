"""The learner's month as one HTML page without outside parts: `page(gather(root), today)`."""

from tools.report.page import page

__all__ = ["page"]
