package org.apache.kafka.metadata.migration;

import org.apache.kafka.common.metadata.ClientQuotaRecord;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** The last quota of an entity is taken away in dual write. */
public class Kmigrate9Test {

    @ParameterizedTest
    @ValueSource(strings = {ClientQuotaEntity.USER, ClientQuotaEntity.CLIENT_ID, ClientQuotaEntity.IP})
    public void testDeltaTakesTheLastQuotaOutOfZk(String type) {
        MetadataImage image = applied(MetadataImage.EMPTY, 1, quota(type, false));
        MetadataDelta removal = new MetadataDelta(image);
        removal.replay(quota(type, true));
        MetadataImage after = removal.apply(new MetadataProvenance(2, 1, 1));

        List<Map<String, Double>> written = new java.util.ArrayList<>();
        ConfigMigrationClient zk = new CapturingConfigMigrationClient() {
            @Override
            public ZkMigrationLeadershipState writeClientQuotas(Map<String, String> entity, Map<String, Double> quotas,
                    Map<String, String> scram, ZkMigrationLeadershipState state) {
                written.add(quotas);
                return state;
            }
        };
        MigrationClient client = CapturingMigrationClient.newBuilder().setConfigMigrationClient(zk).build();

        new KRaftMigrationZkWriter(client, __ -> { }).handleDelta(image, after, removal,
            (opType, opLog, operation) -> operation.apply(ZkMigrationLeadershipState.EMPTY));

        assertEquals(List.of(Map.of()), written);
    }

    private static MetadataImage applied(MetadataImage image, long offset, ClientQuotaRecord record) {
        MetadataDelta delta = new MetadataDelta(image);
        delta.replay(record);
        return delta.apply(new MetadataProvenance(offset, 1, 1));
    }

    private static ClientQuotaRecord quota(String type, boolean remove) {
        return new ClientQuotaRecord()
            .setEntity(List.of(new ClientQuotaRecord.EntityData().setEntityType(type).setEntityName("entity")))
            .setKey(type.equals(ClientQuotaEntity.IP) ? "connection_creation_rate" : "producer_byte_rate")
            .setValue(1024.0)
            .setRemove(remove);
    }
}
