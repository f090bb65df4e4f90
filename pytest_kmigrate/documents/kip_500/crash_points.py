"""Crash points: places in Kafka's code that matter to a quorum and its brokers, by Byteman's class and method names."""

from pytest_kmigrate.model.protocols import CrashPoint
from pytest_kmigrate.model.topology import Role

FETCHING_STANDS_STILL = CrashPoint("fetching-stands-still", "org.apache.kafka.raft.KafkaRaftClient", "poll", held_s=15)
"""A node fetches nothing of the metadata log, and goes on sending heartbeats; longer than a session of 4 s."""

CRASH_POINTS = {FETCHING_STANDS_STILL: Role.BROKER}
"""Those that schedules may name, and which nodes come there."""
