#!/usr/bin/env bash
# kmigrate-7: ZooKeeper carries a write out, and its answer comes when the client has given the connection up.
. "$(dirname "$0")/cluster.sh"
dual_write
topics() { "$KAFKA/bin/kafka-topics.sh" --bootstrap-server $BROKER "$@"; }
topics --create --topic before --partitions 1 --replication-factor 1
sleep 3; echo "== /migration before: $(zk stat /migration | grep -i dataVersion)"
kill -STOP "$(pid zookeeper)"
sleep 14 # longer than a client waits for an answer (12 s), shorter than the session (18 s)
kill -CONT "$(pid zookeeper)"
sleep 10
topics --create --topic after --partitions 1 --replication-factor 1
sleep 5; echo "== topics in ZooKeeper: $(zk ls /brokers/topics)"
echo "== /migration: $(zk stat /migration | grep -i dataVersion), and 10 s later: $(sleep 10; zk stat /migration | grep -i dataVersion)"
grep -cE "BadVersion for /migration" "$WORK/controller-3000.log"
grep -B1 -A6 "BadVersion for /migration" "$WORK/controller-3000.log" | head -10
