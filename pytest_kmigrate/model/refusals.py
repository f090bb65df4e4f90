"""Refusals of a send: the errors after which its record is not in the log. Clients and checkers go by this one list.

A client reports the error of its *last* attempt, and not how many there were: librdkafka's persistence status
of a message is not in its Python binding, and is reset when an idempotent producer queues a batch again. An earlier
attempt may have been appended, and only its answer been lost. So an error is definite only if it judges the batch by
itself, so that every attempt gets the same answer, and before anything is appended. Whatever is not named is
INDEFINITE: an error that is not listed can then never become a false "this record must not exist".

=============================  ==========  ==========================================================================
error                          definite    why
=============================  ==========  ==========================================================================
MESSAGE_TOO_LARGE,             yes         judged by the batch's size and content, by client or leader, before the
RECORD_LIST_TOO_LARGE,                     append; limits of the topics that are written to are not changed meanwhile
INVALID_RECORD
TOPIC_AUTHORIZATION_FAILED,    no          that attempt was not appended, but rights may be taken away between two; and
CLUSTER_AUTHORIZATION_FAILED               librdkafka fails by it all that it holds for the topic, sent before or not
_UNKNOWN_TOPIC,                no          so it does when a broker knows no such topic or partition for a while; a
_UNKNOWN_PARTITION                         fenced one, say
NOT_ENOUGH_REPLICAS            no          refused before the append, but only this time
NOT_ENOUGH_REPLICAS_AFTER_     no          appended, not replicated
APPEND
_MSG_TIMED_OUT,                no          an earlier attempt may be in the log
REQUEST_TIMED_OUT
_PURGE_INFLIGHT, _PURGE_QUEUE  no          a request was on its way, or was to be sent once more
OUT_OF_ORDER_SEQUENCE_NUMBER   no          says nothing of earlier attempts
=============================  ==========  ==========================================================================
"""

DEFINITE_PRODUCE_ERRORS = frozenset({"MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_RECORD"})
"""Kafka's names of the errors that are definite."""

NOT_CONNECTED = "_NOT_CONNECTED"
"""The error of a request of one's own that was not sent, as no broker took it."""

GIVEN_UP = "_MSG_TIMED_OUT"
"""librdkafka's name of a record that its producer sends no more, as ``message.timeout.ms`` is over."""
