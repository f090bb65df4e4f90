"""A reference implementation of KIP-125, which Kafka never had: members of a group that two systems coordinate.

Run as ``python -m pytest_kmigrate.documents.kip_125.reference --kind MEZKCC --settings FILE --topics orders=1``. It
prints the lines of the adapter contract (docs/how-to/put-a-consumer-under-kip-125.md). The rules of the document, and
those that a developer has to add to it, are written where they are enforced:

========================= =========================================================================================
``decision``              which system's assignment a member follows; who gets what by ZooKeeper
``settings``              what is refused before a member joins anything
``finding``               a ZooKeeper that is not Kafka's is refused before a member joins anything
``zookeeper``             registration in one transaction, watches, owner nodes, and the lease of the session
``embedded``              the embedded KafkaConsumer: paused, polled by its own thread, committing for the member
``fetching``              records reach the application in order, and none that was fetched is passed over
``connector``             one loop that changes state: what is held is released before anything else is claimed
``holding``               one held partition from claim to release, with versioned offsets
``plain``                 a plain KafkaConsumer, for groups that are on their way to it
========================= =========================================================================================
"""
