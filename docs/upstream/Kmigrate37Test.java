package kafka.zk.migration;

import kafka.server.QuorumTestHarness;
import kafka.zk.KafkaZkClient;
import kafka.zookeeper.AsyncRequest;
import kafka.zookeeper.AsyncResponse;
import kafka.zookeeper.MultiRequest;
import kafka.zookeeper.ZooKeeperClient;

import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.errors.ControllerMovedException;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.security.authorizer.AclEntry;

import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Properties;

import scala.collection.Seq;
import scala.collection.immutable.Set;

import static org.junit.jupiter.api.Assertions.assertThrows;

/** A broker that is the controller is about to write what a client asked for when a KRaft controller claims. */
public class Kmigrate37Test extends QuorumTestHarness {

    /** If KRaft has claimed when the broker looks, it refuses. If KRaft claims just after, both znodes have version 0. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    public void testFormerControllerChangesNoConfig(boolean isClaimedMeanwhile) {
        zkClient().registerControllerAndIncrementControllerEpoch(0);
        zkClient().createRecursive("/config/topics/foo", "{\"version\":1,\"config\":{}}".getBytes(), true);
        if (!isClaimedMeanwhile) {
            claim();
        }
        ZooKeeperClient connection = new ZooKeeperClient(zkConnect(), 30000, 30000, 10, Time.SYSTEM,
                "kafka.server", "Kmigrate37", new ZKClientConfig(), "broker") {
            @Override
            public <R extends AsyncRequest> Seq<AsyncResponse> handleRequests(Seq<R> requests) {
                if (isClaimedMeanwhile && requests.head() instanceof MultiRequest) {
                    claim();
                }
                return super.handleRequests(requests);
            }
        };
        Properties config = new Properties();
        config.setProperty("retention.ms", "1000");
        try (KafkaZkClient broker = new KafkaZkClient(connection, false, Time.SYSTEM, true)) {
            assertThrows(ControllerMovedException.class,
                () -> broker.setOrCreateEntityConfigs("topics", "foo", config));
        }
    }

    /** ACLs are created without any check. */
    @Test
    public void testFormerControllerCreatesNoAcl() {
        zkClient().registerControllerAndIncrementControllerEpoch(0);
        zkClient().createAclPaths();
        claim();
        AclEntry entry = new AclEntry(
            new AccessControlEntry("User:alice", "*", AclOperation.READ, AclPermissionType.ALLOW));
        ResourcePattern topic = new ResourcePattern(ResourceType.TOPIC, "foo", PatternType.LITERAL);
        assertThrows(ControllerMovedException.class,
            () -> zkClient().createAclsForResourceIfNotExists(topic, new Set.Set1<>(entry)));
    }

    private void claim() {
        zkClient().tryRegisterKRaftControllerAsActiveController(3000, 5);
    }
}
