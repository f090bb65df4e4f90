#!/usr/bin/env bash
# kmigrate-2: partitions are added while the controller cannot write to ZooKeeper; no later controller reaches dual write.
. "$(dirname "$0")/cluster.sh"
dual_write
topics() { "$KAFKA/bin/kafka-topics.sh" --bootstrap-server $BROKER "$@"; }
topics --create --topic foo --partitions 1 --replication-factor 1
sleep 3; echo "== ZooKeeper has of foo: $(zk ls /brokers/topics/foo/partitions)"
kill -STOP "$(pid zookeeper)"
topics --alter --topic foo --partitions 2
kill -KILL "$(pid controller-3000)"
kill -CONT "$(pid zookeeper)"
start_controller 3000
await controller-3000 "Encountered ZooKeeper error during event SyncKRaftMetadataEvent" 4
topics --create --topic after --partitions 1 --replication-factor 1 || true
sleep 5; echo "== ZooKeeper has of foo: $(zk ls /brokers/topics/foo/partitions); topics: $(zk ls /brokers/topics)"
echo "== entered DUAL_WRITE: $(grep -c 'to DUAL_WRITE state' "$WORK/controller-3000.log") time(s), full syncs begun: $(grep -c 'Performing a full metadata sync' "$WORK/controller-3000.log")"
grep -A12 "Encountered ZooKeeper error during event SyncKRaftMetadataEvent" "$WORK/controller-3000.log" | head -13
