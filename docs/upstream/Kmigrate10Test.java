package org.apache.kafka.metadata.migration;

import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.Map;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** The full sync to ZooKeeper meets a config of a kind that ZooKeeper does not know. */
public class Kmigrate10Test {
    private static final ConfigResource BROKER = new ConfigResource(ConfigResource.Type.BROKER, "0");

    @ParameterizedTest
    @EnumSource(value = ConfigResource.Type.class, names = "CLIENT_METRICS")
    public void testSnapshotSkipsConfigsThatZkDoesNotKnow(ConfigResource.Type type) {
        MetadataDelta delta = new MetadataDelta(MetadataImage.EMPTY);
        delta.replay(config(new ConfigResource(type, "subscription"), "interval.ms", "60000"));
        delta.replay(config(BROKER, "log.cleaner.backoff.ms", "20000"));
        MetadataImage image = delta.apply(new MetadataProvenance(1, 1, 1));
        CapturingConfigMigrationClient zk = new CapturingConfigMigrationClient();
        MigrationClient client = CapturingMigrationClient.newBuilder().setConfigMigrationClient(zk).build();

        new KRaftMigrationZkWriter(client, __ -> { }).handleConfigsSnapshot(image.configs(),
            (opType, opLog, operation) -> operation.apply(ZkMigrationLeadershipState.EMPTY));

        assertEquals(Set.of(BROKER), zk.writtenConfigs.keySet());
        assertEquals(Map.of("log.cleaner.backoff.ms", "20000"), zk.writtenConfigs.get(BROKER));
    }

    private static ConfigRecord config(ConfigResource resource, String name, String value) {
        return new ConfigRecord()
            .setResourceType(resource.type().id())
            .setResourceName(resource.name())
            .setName(name)
            .setValue(value);
    }
}
