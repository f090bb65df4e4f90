"""A Java class made without a compiler, which a machine with a runtime only does not have."""

import struct

STANDARD_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_MAGIC = 0xCAFEBABE
_JAVA_8 = 52
_UTF8, _CLASS, _METHOD, _NAME_AND_TYPE = 1, 7, 10, 12
_PUBLIC, _SUPER = 0x0001, 0x0020
_CALL_SUPER = bytes([0x2A, 0xB7, 0x00, 0x01, 0xB1])  # aload_0, invokespecial #1, return


def subclass(name: str, parent: str) -> bytes:
    """The class file of a public class that adds nothing to its parent (Java Virtual Machine Specification, 4)."""
    texts = [parent.replace(".", "/"), "<init>", "()V", name.replace(".", "/"), "Code"]
    parent_at, init, no_arguments, name_at, code = range(5, 10)
    pool = [
        struct.pack(">BHH", _METHOD, 2, 3),
        struct.pack(">BH", _CLASS, parent_at),
        struct.pack(">BHH", _NAME_AND_TYPE, init, no_arguments),
        struct.pack(">BH", _CLASS, name_at),
        *(struct.pack(">BH", _UTF8, len(text)) + text.encode() for text in texts),
    ]
    body = struct.pack(">HHI", 1, 1, len(_CALL_SUPER)) + _CALL_SUPER + struct.pack(">HH", 0, 0)
    constructor = struct.pack(">HHHH", _PUBLIC, init, no_arguments, 1) + struct.pack(">HI", code, len(body)) + body
    head = struct.pack(">IHHH", _MAGIC, 0, _JAVA_8, len(pool) + 1) + b"".join(pool)
    own = struct.pack(">HHHHHH", _PUBLIC | _SUPER, 4, 2, 0, 0, 1)
    return head + own + constructor + struct.pack(">H", 0)
