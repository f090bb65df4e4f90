#!/usr/bin/env bash
# kmigrate-17: what a crash leaves between the end of the copy and the first position in /migration is not continued.
# The crash itself has some tens of milliseconds; the znode is put back to what it holds in them while no controller runs.
. "$(dirname "$0")/cluster.sh"
dual_write
kill -KILL "$(pid controller-3000)"
initial='{"version":0,"kraft_metadata_offset":-1,"kraft_controller_id":-1,"kraft_metadata_epoch":-1,"kraft_controller_epoch":-1}'
zk set /migration "$initial" >/dev/null
start_controller 3000
await controller-3000 "KRaft controller indicates an active migration, but the ZK state does not"
"$KAFKA/bin/kafka-topics.sh" --bootstrap-server $BROKER --create --topic after --partitions 1 --replication-factor 1 || true
sleep 5; echo "== topics in ZooKeeper: $(zk ls /brokers/topics); /migration: $(zk get /migration)"
echo "== brokers in ZooKeeper mode know: $("$KAFKA/bin/kafka-topics.sh" --bootstrap-server $BROKER --list | tr '\n' ' ')"
grep -E "KRaftMigrationDriver id" "$WORK/controller-3000.log" | tail -5
