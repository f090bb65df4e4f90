"""KIP-866 and transactions: coordinators move with every roll, producer ids are handed over with the rest."""

import pytest

from pytest_kmigrate import Kill, Phase, checks, targets


@pytest.mark.sample
@pytest.mark.topology("zk1-broker3-controller1")
@pytest.mark.requirement("K866-TEST-happy-path")
def test_transactions_are_whole_or_absent_after_the_migration(
    transactional_workload, migration, inject, verify_clients
):
    """Transactions go on over every roll and over a killed leader; of each all is read afterwards, or nothing."""
    migration.advance_to(Phase.HYBRID)
    with inject(Kill(targets.partition_leader("payments"))):
        transactional_workload.await_acked(1000)
    migration.advance_to(Phase.FINALIZED)

    verify_clients(checks.transactions_all_or_nothing())
