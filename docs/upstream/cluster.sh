#!/usr/bin/env bash
# A cluster in dual write on this machine, by Kafka's own scripts: one ZooKeeper server, one broker in ZooKeeper mode, controllers.
# Sourced by the steps of each report. KAFKA: an unpacked release. WORK: an empty folder. CONTROLLERS: how many (1 by default).
set -eu
: "${KAFKA:?expected the folder of an unpacked Kafka release}" "${WORK:?expected an empty folder}" "${CONTROLLERS:=1}"
export KAFKA_HEAP_OPTS="${KAFKA_HEAP_OPTS:--Xmx256m}" KAFKA_JVM_PERFORMANCE_OPTS=-XX:+UseSerialGC
ZK=127.0.0.1:12181 BROKER=127.0.0.1:19092 CLUSTER_ID=
VOTERS=3000@127.0.0.1:19093
for n in $(seq 1 $((CONTROLLERS - 1))); do VOTERS=$VOTERS,$((3000 + n))@127.0.0.1:$((19093 + n)); done
PIDS=()
mkdir -p "$WORK"
trap 'kill -CONT "${PIDS[@]}" 2>/dev/null; kill -KILL "${PIDS[@]}" 2>/dev/null || true' EXIT

start() { # NAME SCRIPT PROPERTIES...: a process in the background, its log in WORK/NAME.log, its id in WORK/NAME.pid
  local name=$1; shift
  : >>"$WORK/$name.log" # so that it can be read at once
  LOG_DIR="$WORK/$name-logs" "$KAFKA/bin/$1" "${@:2}" >>"$WORK/$name.log" 2>&1 &
  echo $! >"$WORK/$name.pid"; PIDS+=($!)
}
pid() { cat "$WORK/$1.pid"; }
await() { # NAME PATTERN [COUNT]: until the log of a process has so many lines of the pattern
  local _
  for _ in $(seq 1 120); do [ "$(grep -cE "$2" "$WORK/$1.log")" -ge "${3:-1}" ] && return; sleep 1; done
  echo "no '$2' in $WORK/$1.log" >&2; return 1
}
await_any() { # PATTERN: until some controller logs it; sets WHO
  local _ n
  for _ in $(seq 1 120); do
    for n in $(seq 0 $((CONTROLLERS - 1))); do
      if grep -qE "$1" "$WORK/controller-$((3000 + n)).log"; then WHO=controller-$((3000 + n)); return; fi
    done
    sleep 1
  done
  echo "no controller logs '$1'" >&2; return 1
}
zk() { "$KAFKA/bin/zookeeper-shell.sh" $ZK "$@" 2>/dev/null | grep -vE "^(Connecting|WATCHER|WatchedEvent|)$|^Connecting|^WATCHER|^WatchedEvent" || true; }
start_zookeeper() { start zookeeper zookeeper-server-start.sh "$WORK/zookeeper.properties"; await zookeeper "binding to port|Snapshot taken|PrepRequestProcessor"; }
start_controller() { start "controller-$1" kafka-server-start.sh "$WORK/controller-$1.properties"; }
start_broker() { start broker-0 kafka-server-start.sh "$WORK/broker-0.properties"; }

dual_write() { # the whole way from an empty folder to dual write
  printf 'dataDir=%s\nclientPort=12181\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n' "$WORK/zookeeper" >"$WORK/zookeeper.properties"
  cat >"$WORK/broker-0.properties" <<PROPERTIES
broker.id=0
log.dirs=$WORK/broker-0
listeners=PLAINTEXT://$BROKER
zookeeper.connect=$ZK
inter.broker.protocol.version=3.9
offsets.topic.replication.factor=1
zookeeper.metadata.migration.enable=true
controller.quorum.voters=$VOTERS
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
PROPERTIES
  start_zookeeper
  start_broker
  await broker-0 "started \(kafka.server.KafkaServer\)"
  CLUSTER_ID=$(grep -oE "Cluster ID = [A-Za-z0-9_-]+" "$WORK/broker-0.log" | head -1 | sed 's/.* = //')
  for n in $(seq 0 $((CONTROLLERS - 1))); do
    local id=$((3000 + n))
    cat >"$WORK/controller-$id.properties" <<PROPERTIES
process.roles=controller
node.id=$id
log.dirs=$WORK/controller-$id
listeners=CONTROLLER://127.0.0.1:$((19093 + n))
controller.listener.names=CONTROLLER
controller.quorum.voters=$VOTERS
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
zookeeper.connect=$ZK
zookeeper.metadata.migration.enable=true
PROPERTIES
    "$KAFKA/bin/kafka-storage.sh" format "--cluster-id=$CLUSTER_ID" -c "$WORK/controller-$id.properties" >/dev/null
    start_controller $id
  done
  await_any "transitioning from KRAFT_CONTROLLER_TO_BROKER_COMM to DUAL_WRITE"
  ACTIVE=$WHO
  echo "== dual write; active: $ACTIVE; /controller: $(zk get /controller | tail -1)"
}
