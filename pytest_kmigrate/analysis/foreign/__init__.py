"""Results of other tools and projects, so that people can bring the history they have: JUnit XML, Allure, ducktape."""

from pytest_kmigrate.analysis.foreign.attempts import foreign_attempts, is_foreign

__all__ = ["foreign_attempts", "is_foreign"]
