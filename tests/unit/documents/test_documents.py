"""What holds for every document that the package carries."""

import pytest

from pytest_kmigrate.documents import documents
from pytest_kmigrate.model.document import Document
from pytest_kmigrate.model.metrics import check_metric

EVERY = pytest.mark.parametrize("document", documents(), ids=lambda document: document.id)


@EVERY
def test_metrics_are_in_the_catalogue(document: Document) -> None:
    """One that is not would read as None for ever."""
    for metric in document.metrics:
        check_metric(metric)


@EVERY
def test_steps_reach_states_of_the_document(document: Document) -> None:
    """A driver would wait in vain for any other."""
    states = {state.name for state in document.states}
    assert {step.reaches[0] for step in document.procedure} <= states
