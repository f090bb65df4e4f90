#!/usr/bin/env bash
# kmigrate-35: controllers stand still for longer than a ZooKeeper session; the one that is elected then may never take over.
# A race: the election has to come before the client of the new leader has noticed that its session is gone.
CONTROLLERS=3
. "$(dirname "$0")/cluster.sh"
dual_write
all=("$(pid controller-3000)" "$(pid controller-3001)" "$(pid controller-3002)")
for attempt in $(seq 1 6); do
  kill -STOP "$(pid zookeeper)"; kill -STOP "${all[@]}"
  sleep 25
  kill -CONT "${all[@]}"; sleep 3
  kill -CONT "$(pid zookeeper)"; sleep 12
  grep -lE "Encountered ZooKeeper error during event KRaftLeaderEvent|Unhandled error in KRaftLeaderEvent" "$WORK"/controller-*.log && break
done
echo "== attempts: $attempt; /controller: $(zk get /controller)"
"$KAFKA/bin/kafka-metadata-quorum.sh" --bootstrap-controller 127.0.0.1:19093 describe --status | grep -E "LeaderId|LeaderEpoch"
"$KAFKA/bin/kafka-topics.sh" --bootstrap-server $BROKER --create --topic after --partitions 1 --replication-factor 1 || true
sleep 20; echo "== topics in ZooKeeper: $(zk ls /brokers/topics); /controller: $(zk get /controller)"
grep -hE "KRaftMigrationDriver id|Session expired" "$WORK"/controller-*.log | sort | tail -6 | cut -c1-250
grep -hA3 "error during event KRaftLeaderEvent\|error in KRaftLeaderEvent" "$WORK"/controller-*.log | head -8
