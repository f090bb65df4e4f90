"""What pytest calls: options, markers, fixtures, outcomes. Glue, no logic."""

from pytest_kmigrate.fixtures.brokers import (
    admin_of,
    broker_in_migration_mode,
    controller_is_not,
    created,
    fenced,
    in_sync,
    let_in_by_token,
    pending_deletions,
    zookeeper,
)
from pytest_kmigrate.fixtures.judging import verify_clients
from pytest_kmigrate.plugin.fixtures import (
    cluster,
    expect,
    inject,
    kmigrate_run,
    metadata,
    migration,
    topology,
    transactional_workload,
    verify,
    workload,
)
from pytest_kmigrate.plugin.hooks import (
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_report_header,
    pytest_runtest_makereport,
    pytest_terminal_summary,
)

__all__ = [
    "admin_of",
    "broker_in_migration_mode",
    "cluster",
    "controller_is_not",
    "created",
    "expect",
    "fenced",
    "in_sync",
    "inject",
    "kmigrate_run",
    "let_in_by_token",
    "metadata",
    "migration",
    "pending_deletions",
    "pytest_addoption",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_report_header",
    "pytest_runtest_makereport",
    "pytest_terminal_summary",
    "topology",
    "transactional_workload",
    "verify",
    "verify_clients",
    "workload",
    "zookeeper",
]
