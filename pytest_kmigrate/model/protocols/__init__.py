"""The seams between the rooms: what a cluster, a node and a view of it offer, whichever provider made them."""

from pytest_kmigrate.model.protocols.cluster import Cluster
from pytest_kmigrate.model.protocols.nodes import CrashPoint, Node, Record, Restricted, Stood
from pytest_kmigrate.model.protocols.scene import Member, Reading, Scene, View

__all__ = ["Cluster", "CrashPoint", "Member", "Node", "Reading", "Record", "Restricted", "Scene", "Stood", "View"]
