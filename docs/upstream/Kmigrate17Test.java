package org.apache.kafka.metadata.migration;

import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.image.loader.LogDeltaManifest;
import org.apache.kafka.raft.LeaderAndEpoch;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.test.TestUtils;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/** The copy is complete in the log, and the controller died before /migration had its first position. */
public class Kmigrate17Test extends KRaftMigrationDriverTest {

    /** With a position in /migration the driver reaches DUAL_WRITE, which shows that nothing else is missing here. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    public void testMigrationGoesOnAfterACrashAtTheEndOfTheCopy(boolean hasPosition) throws Exception {
        CapturingMigrationClient zk = CapturingMigrationClient.newBuilder().setBrokersInZk(1).build();
        if (hasPosition) {
            zk.setMigrationRecoveryState(ZkMigrationLeadershipState.EMPTY.withKRaftMetadataOffsetAndEpoch(90, 1));
        }
        try (KRaftMigrationDriver driver = defaultTestBuilder()
                .setZkMigrationClient(zk)
                .setPropagator(new CountingMetadataPropagator())
                .build()) {
            driver.start();
            await(driver, MigrationDriverState.INACTIVE);

            LeaderAndEpoch successor = new LeaderAndEpoch(OptionalInt.of(3000), 2);
            MetadataDelta delta = new MetadataDelta(MetadataImage.EMPTY);
            delta.replay(new FeatureLevelRecord()
                .setName(MetadataVersion.FEATURE_NAME)
                .setFeatureLevel(MetadataVersion.IBP_3_6_IV2.featureLevel()));
            delta.replay(zkBrokerRecord(1));
            delta.replay(ZkMigrationState.MIGRATION.toRecord().message());
            MetadataProvenance provenance = new MetadataProvenance(100, 2, 1);
            MetadataImage image = delta.apply(provenance);
            driver.onControllerChange(successor);
            driver.onMetadataUpdate(delta, image, LogDeltaManifest.newBuilder()
                .provenance(provenance)
                .leaderAndEpoch(successor)
                .numBatches(1)
                .elapsedNs(100)
                .numBytes(42)
                .build());

            await(driver, MigrationDriverState.DUAL_WRITE);
        }
    }

    private static void await(KRaftMigrationDriver driver, MigrationDriverState state) throws InterruptedException {
        TestUtils.waitForCondition(() -> driver.migrationState().get(1, TimeUnit.MINUTES) == state,
            "Expected the driver to reach " + state);
    }
}
