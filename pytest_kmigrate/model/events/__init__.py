"""Typed events: one frozen dataclass per kind of event; its fields are the keys of ``data`` in ``history.jsonl``."""
