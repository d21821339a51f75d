"""Arguments: any buffer is read, a buffer that changes does no harm, and anything else is refused."""

import array
import ctypes
import mmap
import threading

import cycloid
import pytest
from cycloid import ec, ed25519, rsa, x25519

KEY = ec.PrivateKey.generate()
MESSAGE = bytes(range(64))
SIGNATURE = KEY.sign(MESSAGE)


def mapped(data):
    memory = mmap.mmap(-1, len(data))
    memory[:] = data
    return memory


BUFFERS = {
    "bytes": bytes,
    "bytearray": bytearray,
    "memoryview": memoryview,
    "view of a bytearray": lambda data: memoryview(bytearray(data)),
    "every second byte": lambda data: memoryview(bytes(b for x in data for b in (x, 0)))[::2],
    "backwards": lambda data: memoryview(data[::-1])[::-1],
    "two dimensions": lambda data: memoryview(data).cast("B", (2, len(data) // 2))
    if len(data) % 2 == 0
    else memoryview(data),
    "array": lambda data: array.array("B", data),
    "ctypes": lambda data: (ctypes.c_ubyte * len(data)).from_buffer_copy(data),
    "mmap": mapped,
}


@pytest.mark.parametrize("make", BUFFERS.values(), ids=BUFFERS.keys())
def test_any_buffer_is_read(make):
    assert KEY.sign(make(MESSAGE)) == SIGNATURE
    KEY.public_key.verify(make(SIGNATURE), make(MESSAGE))
    der = KEY.public_key.to_der()
    assert ec.PublicKey.from_der(make(der)) == KEY.public_key
    assert KEY.public_key.verify_many([make(SIGNATURE)] * 2, [make(MESSAGE)] * 2) == [True] * 2


NO_BUFFERS = [None, "text", 3, 1.5, [1, 2], object(), (b"a",), bytes, array.array("I", [1, 2])]


@pytest.mark.parametrize("wrong", NO_BUFFERS, ids=[repr(type(wrong)) for wrong in NO_BUFFERS])
def test_anything_else_is_refused(wrong):
    for call in (
        lambda: KEY.sign(wrong),
        lambda: KEY.public_key.verify(wrong, MESSAGE),
        lambda: KEY.public_key.verify(SIGNATURE, wrong),
        lambda: ec.PrivateKey.from_der(wrong),
        lambda: ec.PublicKey.from_bytes("P-256", wrong),
        lambda: ed25519.PrivateKey.from_bytes(wrong),
        lambda: x25519.PublicKey.from_bytes(wrong),
        lambda: rsa.PublicKey.from_der(wrong),
        lambda: KEY.sign_many([MESSAGE, wrong]),
        lambda: KEY.agree(wrong),
        lambda: KEY.agree_many([KEY.public_key, wrong]),
    ):
        with pytest.raises(TypeError):
            call()


def test_messages_name_the_argument():
    with pytest.raises(TypeError, match="bytes-like object is required, not 'NoneType'"):
        KEY.sign(None)
    with pytest.raises(TypeError, match="item 1: a bytes-like object is required, not 'int'"):
        KEY.sign_many([b"", 3])
    with pytest.raises(TypeError, match="a list of bytes-like objects"):
        KEY.sign_many(b"one message")
    with pytest.raises(TypeError, match="a list of bytes-like objects"):
        KEY.sign_many(bytearray(b"one message"))
    with pytest.raises(TypeError, match="a list of bytes-like objects"):
        KEY.sign_many(None)
    with pytest.raises(TypeError, match="elements are not bytes"):
        KEY.sign(array.array("I", [1]))


def test_rows_of_a_buffer():
    messages = [bytes([i]) * 32 for i in range(100)]
    rows = memoryview(b"".join(messages)).cast("B", (100, 32))
    signatures = KEY.sign_many(rows, encoding="raw")
    assert signatures == KEY.sign_many(messages, encoding="raw")
    packed = memoryview(bytearray(b"".join(signatures))).cast("B", (100, 64))
    assert KEY.public_key.verify_many(packed, rows, encoding="raw") == [True] * 100
    with pytest.raises(cycloid.ParameterError):
        KEY.public_key.verify_many(packed, memoryview(bytes(99 * 32)).cast("B", (99, 32)))
    assert KEY.sign_many(iter(messages), encoding="raw") == signatures
    assert KEY.sign_many(tuple(messages), encoding="raw") == signatures


def test_a_buffer_that_changes_does_no_harm():
    """A thread writes to the message and resizes it while others sign it."""
    message = bytearray(1 << 20)
    stop = threading.Event()
    turns = 0

    def change():
        nonlocal turns
        while not stop.is_set():
            message[0] ^= 0xFF
            if turns % 2:
                message.extend(bytes(1 << 16))
            else:
                del message[1 << 20 :]
            turns += 1

    # Each state that the message can be seen in: the first byte, and the length.
    possible = {KEY.sign(first + bytes((1 << 20) - 1)) for first in (b"\0", b"\xff")}
    possible |= {
        KEY.sign(first + bytes((1 << 20) + (1 << 16) - 1)) for first in (b"\0", b"\xff")
    }
    thread = threading.Thread(target=change)
    thread.start()
    try:
        while turns < 100:
            assert KEY.sign(message) in possible
            assert set(KEY.sign_many([message] * 3)) <= possible
    finally:
        stop.set()
        thread.join()


def test_a_list_that_changes_while_it_is_read():
    class Shrinking:
        """A sequence that ends early."""

        def __getitem__(self, index):
            if index == 3:
                raise IndexError
            return b"x"

    assert len(KEY.sign_many(Shrinking())) == 3

    def failing():
        yield b"x"
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        KEY.sign_many(failing())


def test_a_buffer_larger_than_the_memory_is_an_error(tmp_path):
    # A file without contents, of 8 TiB.
    path = tmp_path / "large"
    with path.open("w+b") as file:
        file.truncate(1 << 43)
        memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        with pytest.raises(MemoryError):
            ed25519.PrivateKey.generate().sign(memory)
        memory.close()
