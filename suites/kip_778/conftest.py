"""Fixtures of KIP-778 tests."""

from pytest_kmigrate.suites.kip_778.fixtures import *
