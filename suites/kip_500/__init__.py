"""Tests of KIP-500: the quorum of controllers, and brokers that are members by its log."""
