"""The real ZookeeperConsumerConnector of Kafka 1.1.1 as a member of a group: its console consumer, unmodified.

Byteman prints the lines of the adapter contract at the places where things happen (``lines.btm``). Run it as
``python -m pytest_kmigrate.documents.kip_125.old_consumer``, with the words that any member gets.
"""
