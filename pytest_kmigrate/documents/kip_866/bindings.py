"""General claims that KIP-866 asks for: each with the requirements it speaks for, wherever it is judged."""

from pytest_kmigrate.checkers.clients.availability import longest_time_without_acked_write
from pytest_kmigrate.checkers.controllers.controllers import (
    controller_epoch_never_falls,
    one_active_controller_per_epoch,
)
from pytest_kmigrate.model.checks import AnyChecker, speaking

BINDINGS: tuple[AnyChecker, ...] = (
    speaking(one_active_controller_per_epoch, "K866-ZNODE-controller-every-election"),
    speaking(controller_epoch_never_falls, "K866-ZNODE-controller-epoch-monotonic"),
    speaking(longest_time_without_acked_write, "K866-COMPAT-availability", "K866-PROC-no-downtime-broker-phase"),
)
