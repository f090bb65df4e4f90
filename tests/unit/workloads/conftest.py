"""What tests of workloads share."""

import pytest

from pytest_kmigrate.workloads.metadata.metadata_invocation import MetadataAdmin


@pytest.fixture(scope="session")
def admin() -> MetadataAdmin:
    """Of a cluster that does not answer; one for all tests, as the client library takes a second to end it."""
    return MetadataAdmin({"bootstrap.servers": "127.0.0.1:1"})
