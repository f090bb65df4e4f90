#!/usr/bin/env bash
# kmigrate-9: the last quota of a client id is taken away in dual write, and ZooKeeper keeps it.
. "$(dirname "$0")/cluster.sh"
dual_write
configs() { "$KAFKA/bin/kafka-configs.sh" --bootstrap-server $BROKER --alter --entity-type clients --entity-name app "$@"; }
configs --add-config producer_byte_rate=1024
sleep 3; echo "== set, ZooKeeper has: $(zk get /config/clients/app)"
configs --delete-config producer_byte_rate
sleep 3; echo "== taken away, ZooKeeper has: $(zk get /config/clients/app)"
grep -A9 "Unhandled error in MetadataChangeEvent" "$WORK/controller-3000.log" | head -10
