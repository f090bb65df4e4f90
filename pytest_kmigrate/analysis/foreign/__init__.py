"""Results of other tools and projects, so that people can bring the history they have: JUnit XML, Allure, ducktape."""

from pytest_kmigrate.analysis.foreign.attempts import is_foreign
from pytest_kmigrate.analysis.foreign.counting import foreign_attempts
from pytest_kmigrate.analysis.foreign.labels import Label, labels_of

__all__ = ["Label", "foreign_attempts", "is_foreign", "labels_of"]
