"""Agents in running JVMs: the attach protocol, Byteman rules, crash points."""
