"""Fixtures of KIP-500 tests."""

from pytest_kmigrate.suites.kip_500.fixtures import *
