#!/usr/bin/env bash
# kmigrate-5: the controller is stopped in a controlled way while ZooKeeper lags behind; what it had acknowledged is not written.
. "$(dirname "$0")/cluster.sh"
dual_write
topics() { "$KAFKA/bin/kafka-topics.sh" --bootstrap-server $BROKER "$@"; }
topics --create --topic before --partitions 1 --replication-factor 1
sleep 3
kill -STOP "$(pid zookeeper)" # for a few seconds, as a long collection of garbage or a slow disk does
topics --create --topic acknowledged --partitions 1 --replication-factor 1
kill -TERM "$(pid controller-3000)"
sleep 2
kill -CONT "$(pid zookeeper)"
wait "$(pid controller-3000)" || true
sleep 3; echo "== ended; ZooKeeper has the topics: $(zk ls /brokers/topics)"
grep -E "ZooKeeperClient KRaft Migration\] Clos|Encountered ZooKeeper error|closed event queue|SessionExpiredException" "$WORK/controller-3000.log" | tail -12
