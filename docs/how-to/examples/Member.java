// A small consumer with KIP-125 that keeps the contract of members: an example of an adapter in Java.
// It lacks what a real one needs: leases (a member that stood still reads on), retries, and the other assignors of ZooKeeper.
//
//   javac -cp "KAFKA/libs/*" -d classes Member.java
//   kmigrate consumers validate "java -cp classes:KAFKA/libs/* Member"

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.zookeeper.*;

public final class Member implements ConsumerRebalanceListener {
    static final String PREFIX = "coordination.migration.";
    static final ObjectMapper JSON = new ObjectMapper();

    final Map<String, String> given = new HashMap<>();
    final Map<String, Integer> streams = new TreeMap<>();
    final boolean migrates, hasListener;
    final String group, root, id;
    final Set<String> orders = ConcurrentHashMap.newKeySet();
    final Map<TopicPartition, Long> owned = new TreeMap<>(Comparator.comparing(TopicPartition::toString));
    final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    ZooKeeper zookeeper;
    KafkaConsumer<byte[], byte[]> embedded, fetcher;
    volatile Set<TopicPartition> assigned;
    volatile boolean byKafka, isOver;
    volatile CountDownLatch revoked;
    String mode = "";

    public static void main(String[] arguments) throws Exception {
        Map<String, String> options = new HashMap<>();
        for (int at = 0; at < arguments.length; at++)
            options.put(arguments[at], arguments[at].equals("--listener") ? "" : arguments[++at]);
        if (options.containsKey("--hosts")) System.setProperty("jdk.net.hosts.file", options.get("--hosts"));
        Properties settings = new Properties();
        try (FileInputStream file = new FileInputStream(options.get("--settings"))) { settings.load(file); }
        new Member(settings, options.get("--topics"), options.containsKey("--listener")).run();
        System.exit(0);
    }

    Member(Properties settings, String topics, boolean hasListener) throws Exception {
        settings.forEach((key, value) -> given.put(key.toString(), value.toString()));
        for (String each : topics.split(",")) streams.put(each.split("=")[0], Integer.parseInt(each.split("=")[1]));
        String enabled = given.getOrDefault(PREFIX + "enabled", "false");
        if (!enabled.matches("true|false")) refuse(PREFIX + "enabled", "expected true or false; got " + enabled);
        this.migrates = enabled.equals("true");
        this.hasListener = hasListener;
        if (migrates && given.getOrDefault(PREFIX + "bootstrap.servers", "").isEmpty())
            refuse(PREFIX + "bootstrap.servers", "expected servers; got none");
        if (migrates && !"kafka".equals(given.get("offsets.storage"))) refuse("offsets.storage", "expected kafka");
        if (migrates && !"true".equals(given.getOrDefault("dual.commit.enabled", "true")))
            refuse("dual.commit.enabled", "expected true");
        group = given.get("group.id");
        root = "/consumers/" + group;
        id = group + "_" + UUID.randomUUID().toString().substring(0, 8);
    }

    static void refuse(String key, String why) {
        System.err.println(key + ": " + why);
        System.exit(2);
    }

    synchronized void say(String name, Object... more) throws Exception {
        Map<String, Object> line = new LinkedHashMap<>(Map.of("name", name, "ns", System.nanoTime()));
        for (int at = 0; at < more.length; at += 2) line.put(more[at].toString(), more[at + 1]);
        System.out.println(JSON.writeValueAsString(line));
        System.out.flush();
    }

    static Map<String, Object> plain(TopicPartition partition, Object... more) {
        Map<String, Object> found = new HashMap<>(Map.of("topic", partition.topic(), "partition", partition.partition()));
        for (int at = 0; at < more.length; at += 2) found.put(more[at].toString(), more[at + 1]);
        return found;
    }

    static List<Map<String, Object>> plain(Collection<TopicPartition> partitions) {
        return partitions.stream().map(Member::plain).collect(Collectors.toList());
    }

    // --- the life of a member: everything that changes state happens in this loop

    void run() throws Exception {
        connect();
        if (zookeeper.exists("/brokers/ids", false) == null)
            refuse("zookeeper.connect", "expected the path below which brokers are registered; check the chroot");
        Properties own = new Properties();
        own.put("bootstrap.servers", migrates ? given.get(PREFIX + "bootstrap.servers") : brokers());
        fetcher = consumer(own, Map.of("max.poll.records", "200", "auto.offset.reset", "earliest"));
        if (migrates) embed(own);
        Map<String, Object> effective = Map.of("poll.interval.ms", Integer.parseInt(pollInterval()));
        say("startup_complete", "consumer_id", id, "settings", effective);
        listen();
        register();
        long commitNext = 0, gaugesNext = 0, every = Long.parseLong(given.getOrDefault("auto.commit.interval.ms", "60000"));
        while (!orders.contains("stop")) {
            try {
                turn();
                if (System.currentTimeMillis() > commitNext) {
                    commitNext = System.currentTimeMillis() + every;
                    commit(owned.keySet());
                }
            } catch (KeeperException.SessionExpiredException | KeeperException.ConnectionLossException lost) {
                if (zookeeper.getState().isAlive()) continue;
                if (!owned.isEmpty()) say("partitions_revoked", "partitions", plain(owned.keySet()), "why", "session lost");
                owned.clear();
                connect();
                register();
            }
            if (System.currentTimeMillis() > gaugesNext) {
                gaugesNext = System.currentTimeMillis() + 1000;
                gauges();
            }
        }
        release(List.copyOf(owned.keySet()), "stopped");
        leave();
    }

    void connect() throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        int timeout = Integer.parseInt(given.getOrDefault("zookeeper.session.timeout.ms", "6000"));
        zookeeper = new ZooKeeper(given.get("zookeeper.connect"), timeout, event -> {
            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) connected.countDown();
        });
        if (!connected.await(20, TimeUnit.SECONDS)) refuse("zookeeper.connect", "expected a ZooKeeper that answers");
    }

    /** Both nodes in one transaction: otherwise the others would take this member for one that knows no mode. */
    void register() throws Exception {
        for (String each : List.of("", "/ids", "/owners", "/offsets", "/migration", "/migration/ids"))
            if (migrates || !each.startsWith("/migration")) ensure(root + each);
        Map<String, Object> entry = new HashMap<>(Map.of("version", 1, "subscription", streams, "pattern", "static"));
        entry.put("timestamp", "" + System.currentTimeMillis());
        List<Op> both = new ArrayList<>();
        if (migrates) both.add(created(root + "/migration/ids/" + id, new byte[0]));
        both.add(created(root + "/ids/" + id, JSON.writeValueAsBytes(entry)));
        zookeeper.multi(both);
    }

    static Op created(String path, byte[] data) {
        return Op.create(path, data, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
    }

    void ensure(String path) throws Exception {
        StringBuilder below = new StringBuilder();
        for (String each : path.substring(1).split("/")) {
            below.append("/").append(each);
            try {
                zookeeper.create(below.toString(), new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            } catch (KeeperException.NodeExistsException known) { /* as it should be */ }
        }
    }

    void turn() throws Exception {
        Set<String> ids = new TreeSet<>(zookeeper.getChildren(root + "/ids", false));
        boolean wasKafka = byKafka;
        if (migrates) {
            Set<String> migrating = new HashSet<>(zookeeper.getChildren(root + "/migration/ids", false));
            ids.retainAll(zookeeper.getChildren(root + "/ids", false)); // who joins or leaves in between is left out
            boolean isThere = zookeeper.exists(root + "/migration/mode", true) != null;
            byte[] node = isThere ? read(root + "/migration/mode") : null;
            byKafka = node != null && new String(node, StandardCharsets.UTF_8).equals("kafka") && migrating.containsAll(ids);
            if (mode.isEmpty() || wasKafka != byKafka) {
                mode = byKafka ? "kafka" : "zookeeper";
                say("coordination_mode", "mode", mode, "why", migrating.containsAll(ids) ? "the mode node" : "older members");
            }
        }
        Map<TopicPartition, String> everything = byZookeeper(ids);
        Set<TopicPartition> target = new HashSet<>();
        if (byKafka) target.addAll(assigned == null ? Set.of() : assigned);
        else everything.forEach((each, thread) -> { if (thread.startsWith(id + "-")) target.add(each); });
        release(owned.keySet().stream().filter(each -> !target.contains(each)).collect(Collectors.toList()), "not assigned");
        if (revoked != null && (!byKafka || assigned == null)) revoked.countDown();
        for (TopicPartition each : target) if (!owned.containsKey(each)) claim(each, everything);
        fetch();
    }

    byte[] read(String path) throws Exception {
        try {
            return zookeeper.getData(path, false, null);
        } catch (KeeperException.NoNodeException gone) {
            return null;
        }
    }

    /** The old consumer's range: threads, sorted as text, get stretches of each topic's partitions. */
    Map<TopicPartition, String> byZookeeper(Set<String> ids) throws Exception {
        Map<TopicPartition, String> found = new HashMap<>();
        for (String topic : streams.keySet()) {
            List<String> threads = new ArrayList<>();
            for (String each : ids) {
                byte[] entry = read(root + "/ids/" + each);
                int count = entry == null ? 0 : JSON.readTree(entry).path("subscription").path(topic).asInt(0);
                for (int thread = 0; thread < count; thread++) threads.add(each + "-" + thread);
            }
            Collections.sort(threads);
            byte[] data = read("/brokers/topics/" + topic);
            int count = data == null ? 0 : JSON.readTree(data).path("partitions").size(), next = 0;
            for (int at = 0; at < threads.size(); at++)
                for (int size = count / threads.size() + (at < count % threads.size() ? 1 : 0); size > 0; size--)
                    found.put(new TopicPartition(topic, next++), threads.get(at));
        }
        return found;
    }

    /** The owner node is the lock in both modes, because members see a toggle at different times. */
    void claim(TopicPartition partition, Map<TopicPartition, String> everything) throws Exception {
        String owner = root + "/owners/" + partition.topic() + "/" + partition.partition();
        ensure(root + "/owners/" + partition.topic());
        try {
            byte[] thread = (id + "-0").getBytes(StandardCharsets.UTF_8);
            zookeeper.create(owner, byKafka ? thread : everything.get(partition).getBytes(StandardCharsets.UTF_8),
                ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        } catch (KeeperException.NodeExistsException taken) {
            return; // the next turn tries again
        }
        byte[] stored = read(offsetNode(partition));
        long position = stored == null ? -1 : Long.parseLong(new String(stored, StandardCharsets.UTF_8));
        if (migrates) {
            Map<TopicPartition, OffsetAndMetadata> kept = embedded(() -> embedded.committed(Set.of(partition)), 3);
            OffsetAndMetadata known = kept == null ? null : kept.get(partition);
            position = Math.max(position, known == null ? -1 : known.offset());
        }
        if (position < 0) position = fetcher.beginningOffsets(Set.of(partition)).get(partition);
        store(partition, position);
        if (hasListener) say("before_starting_fetchers", "consumer_id", id, "assignment", global(everything));
        owned.put(partition, position);
        say("partitions_assigned", "partitions", List.of(plain(partition, "position", position)), "source",
            byKafka ? "kafka" : "zookeeper");
    }

    /** Thread by partition, by topic; where Kafka decides, by the coordinator's description of the group. */
    Map<String, Map<Integer, String>> global(Map<TopicPartition, String> everything) throws Exception {
        Map<TopicPartition, String> found = new HashMap<>(byKafka ? Map.of() : everything);
        if (byKafka) {
            try (Admin admin = Admin.create(Map.of("bootstrap.servers", (Object) given.get(PREFIX + "bootstrap.servers")))) {
                admin.describeConsumerGroups(List.of(group)).all().get(3, TimeUnit.SECONDS).get(group).members().forEach(
                    each -> each.assignment().topicPartitions().forEach(one -> found.put(one, each.clientId() + "-0")));
            }
        }
        Map<String, Map<Integer, String>> shown = new TreeMap<>();
        found.forEach((each, thread) ->
            shown.computeIfAbsent(each.topic(), topic -> new TreeMap<>()).put(each.partition(), thread));
        return shown;
    }

    void release(List<TopicPartition> partitions, String why) throws Exception {
        if (partitions.isEmpty()) return;
        if (hasListener) say("before_releasing_partitions", "partitions", plain(partitions));
        commit(partitions);
        say("partitions_revoked", "partitions", plain(partitions), "why", why);
        for (TopicPartition each : partitions) {
            owned.remove(each);
            zookeeper.delete(root + "/owners/" + each.topic() + "/" + each.partition(), -1);
        }
    }

    void fetch() throws Exception {
        if (!fetcher.assignment().equals(owned.keySet())) {
            fetcher.assign(owned.keySet());
            owned.forEach(fetcher::seek);
        }
        if (owned.isEmpty() || orders.contains("pause-reading")) {
            Thread.sleep(50);
            return;
        }
        List<Object> records = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> each : fetcher.poll(Duration.ofMillis(50))) {
            String value = each.value() == null ? "" : new String(each.value(), StandardCharsets.UTF_8);
            records.add(List.of(each.topic(), each.partition(), each.offset(), value));
            owned.put(new TopicPartition(each.topic(), each.partition()), each.offset() + 1);
        }
        if (!records.isEmpty()) say("records_consumed", "count", records.size(), "records", records);
    }

    // --- offsets: Kafka first, as a member of the group, then ZooKeeper

    void commit(Collection<TopicPartition> partitions) throws Exception {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (TopicPartition each : partitions) offsets.put(each, new OffsetAndMetadata(owned.get(each)));
        if (offsets.isEmpty()) return;
        boolean isTaken = true;
        if (migrates) {
            isTaken = embedded(() -> { embedded.commitSync(offsets, Duration.ofSeconds(1)); return true; }, 2) != null;
            report(offsets, "kafka", isTaken);
        }
        if (!isTaken) return;
        for (TopicPartition each : offsets.keySet()) store(each, offsets.get(each).offset());
        report(offsets, "zookeeper", true);
    }

    void report(Map<TopicPartition, OffsetAndMetadata> offsets, String store, boolean isTaken) throws Exception {
        List<Object> listed = new ArrayList<>();
        offsets.forEach((each, offset) -> listed.add(plain(each, "offset", offset.offset())));
        say("offsets_committed", "offsets", listed, "success", isTaken, "error", isTaken ? "" : "REFUSED", "store", store);
    }

    String offsetNode(TopicPartition partition) {
        return root + "/offsets/" + partition.topic() + "/" + partition.partition();
    }

    void store(TopicPartition partition, long offset) throws Exception {
        ensure(root + "/offsets/" + partition.topic());
        byte[] text = Long.toString(offset).getBytes(StandardCharsets.UTF_8);
        try {
            zookeeper.setData(offsetNode(partition), text, -1);
        } catch (KeeperException.NoNodeException first) {
            zookeeper.create(offsetNode(partition), text, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        }
    }

    // --- the embedded KafkaConsumer: paused, polled by a thread of its own, committing for the member

    String pollInterval() {
        return given.getOrDefault(PREFIX + "poll.interval.ms", "1000");
    }

    void embed(Properties own) {
        Map<String, String> more = new HashMap<>();
        given.forEach((key, value) -> { if (key.startsWith(PREFIX)) more.put(key.substring(PREFIX.length()), value); });
        more.keySet().removeAll(Set.of("enabled", "poll.interval.ms"));
        more.putAll(Map.of("group.id", group, "client.id", id, "enable.auto.commit", "false"));
        embedded = consumer(own, more);
        embedded.subscribe(streams.keySet(), this);
        Duration slice = Duration.ofMillis(Math.min(100, Long.parseLong(pollInterval())));
        Thread thread = new Thread(() -> {
            while (!isOver) {
                embedded.poll(slice);
                work();
            }
            embedded.close(Duration.ofSeconds(2));
        }, "embedded-consumer");
        thread.start();
    }

    void work() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) task.run();
    }

    /** Have the consumer's own thread do something; null when it failed, or took too long. */
    <T> T embedded(Callable<T> call, int withinS) throws Exception {
        FutureTask<T> task = new FutureTask<>(call);
        tasks.add(task);
        try {
            return task.get(withinS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException failed) {
            return null;
        }
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        embedded.pause(embedded.assignment()); // in the callback: later it would have fetched
        assigned = Set.copyOf(embedded.assignment());
        quietly("kafka_assigned", assigned);
    }

    /** Kafka's group goes on when this returns: not before what it takes is released. */
    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        assigned = null;
        quietly("kafka_revoked", partitions);
        CountDownLatch released = revoked = new CountDownLatch(1);
        for (int tries = 0; byKafka && !isOver && released.getCount() > 0 && tries < 300; tries++) {
            work();
            try {
                released.await(10, TimeUnit.MILLISECONDS);
            } catch (InterruptedException ended) {
                return;
            }
        }
    }

    void quietly(String name, Collection<TopicPartition> partitions) {
        try {
            say(name, "partitions", plain(partitions));
        } catch (Exception impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    static KafkaConsumer<byte[], byte[]> consumer(Properties own, Map<String, String> more) {
        Properties all = new Properties();
        all.putAll(own);
        all.putAll(more);
        return new KafkaConsumer<>(all, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    // --- the rest

    String brokers() throws Exception {
        List<String> found = new ArrayList<>();
        for (String each : zookeeper.getChildren("/brokers/ids", false))
            JSON.readTree(read("/brokers/ids/" + each)).path("endpoints").forEach(endpoint -> {
                if (endpoint.asText().matches("(PLAINTEXT|INTERNAL)://.*")) found.add(endpoint.asText().split("://")[1]);
            });
        return String.join(",", found);
    }

    void listen() {
        Thread thread = new Thread(() -> {
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    String order = JSON.readTree(line).path("do").asText();
                    if (order.equals("resume-reading")) orders.remove("pause-reading");
                    else orders.add(order);
                }
            } catch (java.io.IOException closed) { /* an order to stop, too */ }
            orders.add("stop");
        }, "orders");
        thread.setDaemon(true);
        thread.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> orders.add("stop")));
    }

    void gauges() throws Exception {
        String type = "kafka.consumer:type=ZookeeperConsumerConnector,name=";
        String tags = ",clientId=" + given.getOrDefault("client.id", group) + ",groupId=" + group;
        Map<String, Integer> shown = new HashMap<>(Map.of(type + "OwnedPartitionsCount" + tags, owned.size()));
        if (migrates) {
            shown.put(type + "KafkaOwnedPartitionsCount" + tags, assigned == null ? 0 : assigned.size());
            shown.put(type + "ActiveKafkaCoordinationCount", byKafka ? 1 : 0);
        }
        say("metrics", "gauges", shown);
    }

    void leave() throws Exception {
        List<Op> both = new ArrayList<>(List.of(Op.delete(root + "/ids/" + id, -1)));
        if (migrates) both.add(Op.delete(root + "/migration/ids/" + id, -1));
        zookeeper.multi(both);
        isOver = true;
        zookeeper.close();
        say("shutdown_complete");
    }
}
