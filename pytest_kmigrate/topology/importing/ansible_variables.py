"""cp-ansible's variables in the words of Kafka: which become properties, and which are Ansible's own."""

from collections.abc import Iterator, Mapping

from pytest_kmigrate.redaction import is_sensitive
from pytest_kmigrate.topology.importing.found import Notes, Setting
from pytest_kmigrate.topology.importing.names import (
    AUTHORIZER,
    CLIENT_AUTH,
    CONTROL_PLANE,
    CONTROLLER_LISTENERS,
    INTER_BROKER,
    LISTENERS,
    MECHANISMS,
    PROTOCOLS,
    ZOOKEEPER_CONNECT,
    ZOOKEEPER_TLS,
    of_listener,
    parts,
    protocol,
)
from pytest_kmigrate.topology.importing.yaml_text import At

_ZOOKEEPER, _BROKER, _CONTROLLER = "zookeeper", "kafka_broker", "kafka_controller"
_PLANE = "CONTROL_PLANE"
_PROPERTIES = "_custom_properties"
_TEMPLATE = "a template of Ansible that was not filled in"
_MECHANISMS = {
    "plain": "PLAIN",
    "scram": "SCRAM-SHA-512",
    "scram256": "SCRAM-SHA-256",
    "kerberos": "GSSAPI",
    "oauth": "OAUTHBEARER",
}
_FACTORS = ("offsets.topic.replication.factor", "transaction.state.log.replication.factor")
_LISTENER_DEFAULTS = {"internal": "INTERNAL", "broker": "BROKER"}
_UNDERSTOOD = frozenset({
    "broker_id", "node_id", "zookeeper_id", "confluent_package_version", "ssl_enabled", "sasl_protocol", "rbac_enabled",
    "ssl_mutual_auth_enabled", "ssl_client_authentication", "kafka_broker_custom_listeners",
    "kafka_broker_configure_multiple_listeners", "kafka_broker_configure_additional_brokers", "zookeeper_chroot",
    "kafka_broker_configure_control_plane_listener", "default_internal_replication_factor",
    "kafka_controller_ssl_enabled", "kafka_controller_sasl_protocol", "zookeeper_ssl_enabled",
    "zookeeper_sasl_protocol", "kafka_broker_custom_properties", "kafka_controller_custom_properties",
    "zookeeper_custom_properties", "kafka_broker", "kafka_controller", "zookeeper", "kraft_migration",
})  # fmt: skip
Variables = Mapping[str, At]


def translated(group: str, variables: Variables, notes: Notes, *, has_controllers: bool) -> dict[str, Setting]:
    """The properties of a node of this group."""
    _leave_others(variables, notes)
    usable = {name: each for name, each in variables.items() if not _is_template(name, each, notes)}
    if group == _ZOOKEEPER:
        return _zookeeper(usable) | dict(_own(group, usable, notes))
    properties = _authorizer(usable) | _to_zookeeper(usable)
    factor = usable.get("default_internal_replication_factor")
    if factor and group == _BROKER:
        properties |= dict.fromkeys(_FACTORS, factor.setting())
    properties |= _listeners(group, usable, has_controllers=has_controllers)
    return properties | dict(_own(group, usable, notes))


def _own(group: str, variables: Variables, notes: Notes) -> Iterator[tuple[str, Setting]]:
    """Properties that the inventory names as Kafka does."""
    tables = (
        variables.get(f"{group}{_PROPERTIES}"),
        variables[group].get("properties") if group in variables else None,
    )
    for table in tables:
        for name, each in (table.table() if table else {}).items():
            if is_sensitive(name):
                notes.leave(each.origin, "secret")
            elif each.is_template:
                notes.leave(each.origin, _TEMPLATE)
            elif each:
                yield name, each.setting()


def _authorizer(variables: Variables) -> dict[str, Setting]:
    rbac = variables.get("rbac_enabled")
    if rbac is None or not rbac.truth(default=False):
        return {}
    return {AUTHORIZER: Setting("io.confluent.kafka.security.authorizer.ConfluentServerAuthorizer", rbac.origin)}


def _to_zookeeper(variables: Variables) -> dict[str, Setting]:
    """How brokers and controllers reach ZooKeeper; without one, nothing reads it."""
    found = {}
    tls = variables.get("zookeeper_ssl_enabled") or variables.get("ssl_enabled")
    if tls and tls.truth(default=False):
        found[ZOOKEEPER_TLS] = Setting("true", tls.origin)
    chroot = variables.get("zookeeper_chroot")
    if chroot and chroot.text():
        found[ZOOKEEPER_CONNECT] = chroot.setting()
    return found


def _zookeeper(variables: Variables) -> dict[str, Setting]:
    login = variables.get("zookeeper_sasl_protocol") or variables.get("sasl_protocol")
    words = login.text() if login else "none"
    if login and (words == "kerberos" or (words != "none" and "zookeeper_sasl_protocol" in variables)):
        return {"authProvider.sasl": login.setting()}
    return {}


def _listeners(group: str, variables: Variables, *, has_controllers: bool) -> dict[str, Setting]:
    properties: dict[str, Setting] = {}
    protocols: list[str] = []
    names: list[str] = []
    origin = next(iter(variables.values())).origin if variables else None
    if group == _BROKER:
        several = _truth(
            variables, "kafka_broker_configure_multiple_listeners", "kafka_broker_configure_additional_brokers"
        )
        for key, name, own in _broker_listeners(variables, several=several):
            names.append(name)
            place = own.get("ssl_enabled") or variables.get("ssl_enabled")
            origin = place.origin if place else origin
            _add(name, {**variables, **own}, protocols, properties)
            if key == ("broker" if several else "internal") and origin:
                properties[INTER_BROKER] = Setting(name, origin)
        plane = variables.get("kafka_broker_configure_control_plane_listener")
        if plane and plane.truth(default=False):
            names.append(_PLANE)
            _add(_PLANE, variables, protocols, properties)
            properties[CONTROL_PLANE] = Setting(_PLANE, plane.origin)
            origin = origin or plane.origin
    if has_controllers:
        own = {
            key: variables[f"{_CONTROLLER}_{key}"]
            for key in ("ssl_enabled", "sasl_protocol")
            if f"{_CONTROLLER}_{key}" in variables
        }
        names += ["CONTROLLER"] if group == _CONTROLLER else []
        _add("CONTROLLER", {**variables, **own}, protocols, properties)
    if origin is None:
        return {}
    properties[LISTENERS] = Setting(",".join(f"{name}://" for name in names), origin)
    properties[PROTOCOLS] = Setting(",".join(protocols), origin)
    if has_controllers:
        properties[CONTROLLER_LISTENERS] = Setting("CONTROLLER", origin)
    return properties


def _broker_listeners(variables: Variables, *, several: bool) -> Iterator[tuple[str, str, dict[str, At]]]:
    custom = variables.get("kafka_broker_custom_listeners")
    tables = custom.table() if custom and several else {}
    for key in dict.fromkeys((*(_LISTENER_DEFAULTS if several else ("internal",)), *tables)):
        own = tables[key].table() if key in tables else {}
        yield key, own["name"].text().upper() if "name" in own else _LISTENER_DEFAULTS.get(key, key.upper()), own


def _add(name: str, variables: Variables, protocols: list[str], properties: dict[str, Setting]) -> None:
    """One listener: its protocol, its mechanisms, and whether clients show a certificate."""
    login = variables.get("sasl_protocol")
    words = [each for each in parts(login.text()) if each.lower() != "none"] if login else []
    tls = variables.get("ssl_enabled")
    has_tls = tls is not None and tls.truth(default=False)
    protocols.append(f"{name}:{protocol(has_tls=has_tls, has_login=bool(words))}")
    if login and words:
        mechanisms = ",".join(_MECHANISMS.get(each.lower(), each) for each in words)
        properties[of_listener(name, MECHANISMS)] = Setting(mechanisms, login.origin)
    mutual, wanted = variables.get("ssl_mutual_auth_enabled"), variables.get("ssl_client_authentication")
    asks = wanted.text() if wanted else "none"
    if has_tls and wanted and asks != "none":
        properties[of_listener(name, CLIENT_AUTH)] = Setting(asks, wanted.origin)
    elif has_tls and mutual and mutual.truth(default=False):
        properties[of_listener(name, CLIENT_AUTH)] = Setting("required", mutual.origin)


def _truth(variables: Variables, *names: str) -> bool:
    return all(variables[name].truth(default=True) for name in names if name in variables)


def _is_template(name: str, each: At, notes: Notes) -> bool:
    if each.is_template and name in _UNDERSTOOD:
        notes.leave(each.origin, _TEMPLATE)
    return each.is_template


def _leave_others(variables: Variables, notes: Notes) -> None:
    for name, each in variables.items():
        if name in _UNDERSTOOD:
            continue
        if is_sensitive(name):
            notes.leave(each.origin, "secret")
        elif name.startswith("ansible_"):
            notes.leave(each.origin, "how Ansible reaches the hosts")
        else:
            notes.leave(each.origin, "no setting of the cluster's shape")
