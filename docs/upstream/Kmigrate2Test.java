package org.apache.kafka.metadata.migration;

import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.image.TopicImage;
import org.apache.kafka.image.TopicsImageTest;

import org.junit.jupiter.api.Test;

import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** The full sync to ZooKeeper has to create partitions that ZooKeeper lacks. */
public class Kmigrate2Test {
    private static final TopicImage FOO = TopicsImageTest.IMAGE1.getTopic("foo");

    @Test
    public void testSnapshotCreatesPartitionsThatZkLacks() {
        CapturingTopicMigrationClient zk = new CapturingTopicMigrationClient() {
            @Override
            public void iterateTopics(EnumSet<TopicVisitorInterest> interests, TopicVisitor visitor) {
                Map<Integer, List<Integer>> assignments = new HashMap<>();
                FOO.partitions().forEach((id, partition) -> assignments.put(id, List.of(2, 3, 4)));
                assignments.remove(1);
                visitor.visitTopic("foo", FOO.id(), assignments);
                assignments.keySet().forEach(id -> visitor.visitPartition(
                    new TopicIdPartition(FOO.id(), new TopicPartition("foo", id)), FOO.partitions().get(id)));
            }
        };
        MigrationClient client = CapturingMigrationClient.newBuilder().setTopicMigrationClient(zk).build();

        new KRaftMigrationZkWriter(client, __ -> { }).handleTopicsSnapshot(TopicsImageTest.IMAGE1,
            (opType, opLog, operation) -> operation.apply(ZkMigrationLeadershipState.EMPTY));

        assertEquals(Map.of("foo", Set.of(1)), zk.newTopicPartitions, "created: " + zk.newTopicPartitions +
            ", changed though they do not exist: " + zk.updatedTopicPartitions);
    }
}
