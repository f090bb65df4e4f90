"""Messages as Kafka, Java, clients and our checks write them, each with its normal form."""

EXAMPLES: tuple[tuple[str, str], ...] = (
    (
        "2026-03-01 10:00:12,034 WARN [Controller id=1] Connection to broker-0:9092 (id: 0 rack: null)",
        "<time> WARN [Controller id=<n>] Connection to broker-<n>:<port> (id: <n> rack: null)",
    ),
    (
        "[2026-03-01T10:00:12.034Z] Connection to node 0 (broker-0/127.1.4.2:9092) could not be established",
        "[<time>] Connection to node <n> (broker-<n>/<ip>:<port>) could not be established",
    ),
    (
        "Session 0x100004e4f470004 for server zookeeper-1/127.1.4.1:2181, Closing socket connection.",
        "Session <hex> for server zookeeper-<n>/<ip>:<port>, Closing socket connection.",
    ),
    (
        "java.net.ConnectException: Connection refused: localhost/127.0.0.1:29092",
        "java.net.ConnectException: Connection refused: localhost/<ip>:<port>",
    ),
    ("bound to [::1]:9093 at 10:00:12.5", "bound to <ip>:<port> at <time>"),
    (
        "3 of 11\u202f861 acknowledged records were never read back: orders-0 at 4337-4339, 5000",
        "<n> of <n> acknowledged records were never read back: orders-<n> at <n>",
    ),
    (
        "phase HYBRID: not within 120 s; last seen: phase PREPARING (776 ms after the run began)",
        "phase HYBRID: not within <duration>; last seen: phase PREPARING (<duration> after the run began)",
    ),
    (
        "Shrinking ISR from 0,1,2 to 1 in /brokers/topics/orders/partitions/2/state",
        "Shrinking ISR from <n> to <n> in /brokers/topics/orders/partitions/<n>/state",
    ),
    ("/controller_epoch was 5, /controller was gone", "/controller_epoch was <n>, /controller was gone"),
    ("leader=-1, offset -1 but epoch -12", "leader=<none>, offset <none> but epoch <n>"),
    (
        "No partition zjL7xl1HRwSkq0a_2-Xh3Q-3 of topicId=zjL7xl1HRwSkq0a_2-Xh3Q",
        "No partition <id>-<n> of topicId=<id>",
    ),
    ("ReplicaFetcherManagers and KafkaRaftClientDriver", "ReplicaFetcherManagers and KafkaRaftClientDriver"),
    ("member consumer-5f2b1c9e-1234-4abc-8def-0123456789ab left", "member consumer-<id> left"),
    (
        "java.lang.IllegalStateException: at kafka.log.UnifiedLog.append(UnifiedLog.scala:1234)",
        "java.lang.IllegalStateException: at kafka.log.UnifiedLog.append(UnifiedLog.scala:<line>)",
    ),
    (
        "at Worker$$Lambda$14/0x0000000800c03000.run waiting for java.lang.Object@6d06d69c",
        "at Worker<lambda>.run waiting for java.lang.Object@<hex>",
    ),
    (
        "/tmp/kafka-logs/orders-0/00000000000000000000.log is not in /var/lib/kafka",
        "<path> is not in <path>",
    ),
    (r"C:\kafka\logs\orders-0: access denied", "<path>: access denied"),
    ("https://127.0.0.1:8474/proxies/7?x=1 said 404", "<url> said <n>"),
    ("listener PLAINTEXT://broker-2:29092", "listener PLAINTEXT://broker-<n>:<port>"),
    ("digest 9f86d081884c7d659a2feaa0c55ad015 differs", "digest <hex> differs"),
    ("Read 1024 bytes at 12.5 MiB/s in 29 microseconds", "Read <size> at <size>/s in <duration>"),
    ("known as KAFKA-16121 of KIP-866, log4j 1.2.17", "known as KAFKA-16121 of KIP-866, log4j <n>"),
    ("Sun Mar  1 10:00:12 UTC 2026: died\n\twith exit code 137", "<time>: died with exit code <n>"),
    ("retry 3/5 and/or none", "retry <n>/<n> and/or none"),
    ("", ""),
)
