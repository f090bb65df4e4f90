"""Checks of the metadata that brokers report to clients while KRaft controllers are in charge."""
