"""KIP-866, what Kafka must refuse: nodes that would begin a migration in a wrong way do not run."""

import pytest

from pytest_kmigrate import Role, moves, procedure


@pytest.mark.sample
@pytest.mark.topology("zk1-broker3-controller1")
@pytest.mark.requirement("K866-FAIL-none-then-flag")
def test_controllers_that_began_without_the_flag_do_not_run_with_it(cluster, migration, expect_end, verify):
    """The metadata log of a quorum that began without the flag says that nothing is migrated; then the flag is set."""
    migration.make("begin-without-the-flag", procedure.FormatControllers(), moves.StartControllers())
    for controller in cluster.nodes(Role.CONTROLLER):
        controller.stop()

    with expect_end("controller-3000", within_s=60, naming="KRaft mode"):
        migration.make("set-the-flag", moves.StartControllers(procedure.controllers_join(cluster)))

    verify()
