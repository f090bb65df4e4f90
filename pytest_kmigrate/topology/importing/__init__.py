"""Topologies made from the files of a cluster that stands elsewhere.

A reader for each kind of file (``properties_files``, ``strimzi``, ``cp_ansible``, ``compose``) returns what it
``found``: nodes with Kafka's own property names, each with its origin. ``drafting`` decides what a topology takes over.
"""
