package kafka.zk.migration;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.metadata.migration.KRaftMigrationOperationConsumer;
import org.apache.kafka.metadata.migration.KRaftMigrationZkWriter;

import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** The ZooKeeper controller had given a new partition no leader when KRaft took over. */
public class Kmigrate36Test extends ZkMigrationTestHarness {
    private static final Uuid ID = Uuid.randomUuid();

    /** With a state the partition's next leader is written, which shows that nothing else is missing here. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    public void testPartitionHasStateAfterFirstSync(boolean hasState) {
        String topic = "{\"version\":3,\"partitions\":{\"0\":[0,1]},\"topic_id\":\"" + ID
            + "\",\"adding_replicas\":{},\"removing_replicas\":{}}";
        zkClient().createRecursive("/brokers/topics/foo", topic.getBytes(StandardCharsets.UTF_8), true);
        if (hasState) {
            PartitionRegistration partition = new PartitionRegistration.Builder()
                .setReplicas(new int[]{0, 1})
                .setDirectories(new Uuid[]{Uuid.randomUuid(), Uuid.randomUuid()})
                .setIsr(new int[]{0, 1})
                .setLeader(0)
                .setLeaderRecoveryState(LeaderRecoveryState.RECOVERED)
                .setLeaderEpoch(0)
                .setPartitionEpoch(0)
                .build();
            migrationState_$eq(migrationClient().topicClient().createTopicPartitions(
                Map.of("foo", Map.of(0, partition)), migrationState()));
        }

        MetadataDelta copied = new MetadataDelta(MetadataImage.EMPTY);
        migrationClient().readAllMetadata(
            batch -> batch.forEach(each -> copied.replay(each.message())), brokerId -> { });
        MetadataImage image = copied.apply(MetadataProvenance.EMPTY);
        KRaftMigrationZkWriter writer = new KRaftMigrationZkWriter(migrationClient(), Assertions::fail);
        KRaftMigrationOperationConsumer write =
            (type, sentence, operation) -> migrationState_$eq(operation.apply(migrationState()));
        writer.handleSnapshot(image, write);
        boolean isThere = zkClient().pathExists("/brokers/topics/foo/partitions/0/state");

        MetadataDelta elected = new MetadataDelta(image);
        elected.replay(new PartitionChangeRecord().setTopicId(ID).setPartitionId(0).setLeader(1));
        writer.handleDelta(image, elected.apply(MetadataProvenance.EMPTY), elected, write);
        assertTrue(isThere);
    }
}
