#!/usr/bin/env bash
# kmigrate-10: a subscription to client metrics, and the controller restarts: no config reaches ZooKeeper any more.
. "$(dirname "$0")/cluster.sh"
dual_write
configs() { "$KAFKA/bin/kafka-configs.sh" "$@"; }
configs --bootstrap-controller 127.0.0.1:19093 --alter --entity-type client-metrics --entity-name subscription --add-config interval.ms=60000
kill -TERM "$(pid controller-3000)"; wait "$(pid controller-3000)" || true
start_controller 3000
await controller-3000 "Unhandled error in SyncKRaftMetadataEvent" 3
configs --bootstrap-server $BROKER --alter --entity-type clients --entity-name app --add-config producer_byte_rate=1024
sleep 5; echo "== ZooKeeper has of client app: $(zk get /config/clients/app)"
echo "== entered DUAL_WRITE: $(grep -c 'to DUAL_WRITE state' "$WORK/controller-3000.log") time(s), full syncs begun: $(grep -c 'Performing a full metadata sync' "$WORK/controller-3000.log")"
grep -A6 "Unhandled error in SyncKRaftMetadataEvent" "$WORK/controller-3000.log" | head -7
