"""What a migration needs of a provider: a step that cannot be taken is not begun."""

import pytest

from pytest_kmigrate.documents.kip_866.driver import MigrationDriver
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import NotApplicableError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.topology import Role
from tests.unit.fakes import Stage


def test_a_step_that_the_provider_cannot_do_is_not_begun(stage: Stage) -> None:
    """No move of it is made and no step is recorded, only what lacks: nothing was tried, so nothing failed."""
    stage.cluster.capabilities -= {Capability.RECONFIGURE, Capability.ZNODES}
    with pytest.raises(NotApplicableError, match=r"step provision-controllers .* not offer: reconfigure, znodes$"):
        MigrationDriver(stage.scene).advance_to(Phase.PREPARING)
    [reported] = stage.recorder.events
    assert (reported.kind, reported.data["what"]) == (EventKind.NOT_OFFERED, "step provision-controllers")
    assert reported.data["lacking"] == ["reconfigure", "znodes"]
    assert not any(node.formatted_with for node in stage.cluster.nodes(Role.CONTROLLER))
