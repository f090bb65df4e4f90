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
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** A controller becomes leader while its ZooKeeper session has expired: its first read of /migration fails, once. */
public class Kmigrate35Test extends KRaftMigrationDriverTest {

    /** With a session that lives the driver reaches DUAL_WRITE, which shows that nothing else is missing here. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    public void testDriverBecomesActiveAfterAnExpiredSession(boolean isExpired) throws Exception {
        AtomicBoolean expired = new AtomicBoolean(false);
        CapturingMigrationClient zk = new CapturingMigrationClient(Set.of(1), new CapturingTopicMigrationClient(),
                new CapturingConfigMigrationClient(), new CapturingAclMigrationClient(),
                new CapturingDelegationTokenMigrationClient(), CapturingMigrationClient.EMPTY_BATCH_SUPPLIER) {
            @Override
            public ZkMigrationLeadershipState getOrCreateMigrationRecoveryState(ZkMigrationLeadershipState initial) {
                if (expired.getAndSet(false)) {
                    throw new MigrationClientException("Session expired");
                }
                return super.getOrCreateMigrationRecoveryState(initial);
            }
        };
        zk.setMigrationRecoveryState(ZkMigrationLeadershipState.EMPTY.withKRaftMetadataOffsetAndEpoch(100, 1));
        try (KRaftMigrationDriver driver = defaultTestBuilder()
                .setZkMigrationClient(zk)
                .setPropagator(new CountingMetadataPropagator())
                .build()) {
            driver.start();
            await(driver, MigrationDriverState.INACTIVE);

            expired.set(isExpired);
            LeaderAndEpoch leader = new LeaderAndEpoch(OptionalInt.of(3000), 2);
            MetadataDelta delta = new MetadataDelta(MetadataImage.EMPTY);
            delta.replay(new FeatureLevelRecord()
                .setName(MetadataVersion.FEATURE_NAME)
                .setFeatureLevel(MetadataVersion.IBP_3_6_IV2.featureLevel()));
            delta.replay(zkBrokerRecord(1));
            delta.replay(ZkMigrationState.MIGRATION.toRecord().message());
            MetadataProvenance provenance = new MetadataProvenance(200, 2, 1);
            MetadataImage image = delta.apply(provenance);
            driver.onControllerChange(leader);
            driver.onMetadataUpdate(delta, image, LogDeltaManifest.newBuilder()
                .provenance(provenance)
                .leaderAndEpoch(leader)
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
