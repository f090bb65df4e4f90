"""What the tests of this suite are written with."""

from pytest_kmigrate.suites.kip_125.fixtures import *
