"""What pytest calls: options, markers, fixtures, outcomes. Glue, no logic."""

from pytest_kmigrate.plugin.fixtures import (
    cluster,
    cluster_metadata,
    expect,
    inject,
    kmigrate_run,
    topology,
    verify,
    workload,
)
from pytest_kmigrate.plugin.hooks import (
    pytest_addoption,
    pytest_cmdline_main,
    pytest_collection_finish,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_load_initial_conftests,
    pytest_pyfunc_call,
    pytest_report_collectionfinish,
    pytest_report_header,
    pytest_runtest_makereport,
    pytest_sessionfinish,
    pytest_terminal_summary,
)

__all__ = [
    "cluster",
    "cluster_metadata",
    "expect",
    "inject",
    "kmigrate_run",
    "pytest_addoption",
    "pytest_cmdline_main",
    "pytest_collection_finish",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_load_initial_conftests",
    "pytest_pyfunc_call",
    "pytest_report_collectionfinish",
    "pytest_report_header",
    "pytest_runtest_makereport",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
    "topology",
    "verify",
    "workload",
]
