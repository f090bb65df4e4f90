#!/usr/bin/env bash
# kmigrate-34: a topic with a config is deleted in dual write; the controller restarts, and ZooKeeper has the config again.
. "$(dirname "$0")/cluster.sh"
dual_write
topics() { "$KAFKA/bin/kafka-topics.sh" --bootstrap-server $BROKER "$@"; }
topics --create --topic gone --partitions 1 --replication-factor 1 --config retention.ms=1000
sleep 3; echo "== made, /config/topics: $(zk ls /config/topics)"
topics --delete --topic gone
sleep 3; echo "== deleted, /config/topics: $(zk ls /config/topics)"
kill -TERM "$(pid controller-3000)"; wait "$(pid controller-3000)" || true
start_controller 3000
await controller-3000 "to DUAL_WRITE state" 2
echo "== restarted, /config/topics: $(zk ls /config/topics), gone: $(zk get /config/topics/gone); /brokers/topics: $(zk ls /brokers/topics)"
grep -E "Created configs for TOPIC gone|Made the following ZK writes when reconciling" "$WORK/controller-3000.log" | tail -3
