"""What tests of KIP-866 expect of a live cluster and diagnoses look for: both name the object, and not its words."""

from pytest_kmigrate.model.expectation import Expectation

CONTROLLER_HELD = Expectation("controller-held", "who holds /controller")
SUCCESSOR_KNOWN = Expectation("successor-known", "brokers that know what the successor made")
NEW_TOPIC_KNOWN = Expectation("new-topic-known", "brokers that know the new topic")
LATER_TOPIC_KNOWN = Expectation("later-topic-known", "brokers that know a topic made after that")
BROKERS_KNOW = (SUCCESSOR_KNOWN, NEW_TOPIC_KNOWN, LATER_TOPIC_KNOWN)
"""Which brokers hear of what a controller did."""
LED_BY_THE_DEAD = Expectation("led-by-the-dead", "partitions of {topic} led by a dead broker, as another reports them")
TOPIC_REPORTED = Expectation("topic-reported", "brokers that report the topic to clients")
ON_DISKS = Expectation("on-disks", "brokers that have {what} on their disks")
"""``what``: a partition, or words for a topic."""

TOPICS_LACKING = Expectation("topics-lacking", "topics that ZooKeeper lacks")
TOPICS_COPIED = Expectation("topics-copied", "topics in the metadata log")
POSITION_HELD = Expectation("position-held", "whether /migration holds a position")
PARTITION_STATE = Expectation("partition-state", "the state of {partition} in ZooKeeper")
PARTITIONS_WRITTEN = Expectation("partitions-written", "partitions of {topic} in ZooKeeper")
LATER_TOPICS_WRITTEN = Expectation("later-topics-written", "the topics made after it that ZooKeeper has")
ALL_STATES_WRITTEN = Expectation("all-states-written", "whether ZooKeeper has all states, of {first} to {last}")
CONFIG_WRITTEN = Expectation("config-written", "the znode /config/{kind}/{name}")
PASSWORD_COPIED = Expectation(
    "password-copied", "the password in the log, and as the broker reads it in ZooKeeper, {when}"
)
IN_FLIGHT = Expectation("in-flight", "whether several requests were in flight at once")

WAITS_FOR_A_BROKER = Expectation("waits-for-a-broker", "the phase without broker{which}")
WAITS_FOR_A_RELEASE = Expectation("waits-for-a-release", "the phase with a broker of {release}")
WAITS = Expectation("waits", "the phase without {what}")
"""``what``: whatever of the preparation a test left out."""
CONFIG_ACCEPTED = Expectation("config-accepted", "{broker} accepts a config of its own")
CONFIG_ANSWERED = Expectation("config-answered", "the answer to a change of a config of {broker}")
