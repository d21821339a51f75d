"""Threads, forks, signals, other interpreters, copies and pickles."""

import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import cycloid
import pytest
from cycloid import dh, ec, ed25519, rsa, x25519
from cycloid.bls import min_pk, min_sig

MAKERS = [
    ec.PrivateKey.generate,
    ed25519.PrivateKey.generate,
    x25519.PrivateKey.generate,
    lambda: rsa.PrivateKey.generate(2048),
    lambda: dh.PrivateKey.generate("ffdhe2048"),
    min_pk.PrivateKey.generate,
    min_sig.PrivateKey.generate,
]


@pytest.fixture(scope="module", params=MAKERS)
def key(request):
    return request.param()


def test_private_keys_are_neither_copied_nor_pickled(key):
    for action in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="neither copied nor pickled"):
            action(key)


def test_public_keys_are_pickled(key):
    public = key.public_key
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(public, protocol)) == public
    assert copy.deepcopy(public) == public
    assert len({public, copy.copy(public)}) == 1


def test_secrets_are_not_shown(key):
    shown = repr(key) + str(key)
    assert shown.startswith("<cycloid.") and len(shown) < 100
    if hasattr(key, "to_bytes"):
        number = key.to_bytes()
        assert number.hex() not in shown and str(int.from_bytes(number, "big")) not in shown
    assert not hasattr(key, "__dict__")
    with pytest.raises(TypeError):
        type(key)()
    with pytest.raises(TypeError):
        type("Subclass", (type(key),), {})


def test_threads_share_a_key(rsa_key):
    key = ec.PrivateKey.generate()
    messages = [b"%d" % i for i in range(32)]

    def work(message):
        rsa_key.public_key.verify(rsa_key.sign(message), message)
        key.public_key.verify(key.sign(message), message)
        assert all(key.public_key.verify_many(key.sign_many(messages), messages))
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, messages))


def test_the_lock_is_released():
    """A thread runs while another waits for a long batch."""
    key = ec.PrivateKey.generate("P-521")
    begun, ended, turns = threading.Event(), threading.Event(), 0

    def work():
        begun.set()
        key.sign_many([b"message"] * 2000, threads=1)
        ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    while not ended.is_set():
        turns += 1
        time.sleep(0)
    thread.join()
    # With the lock held, this thread would have one turn, after the batch.
    assert turns > 10


def test_ctrl_c_stops_a_batch():
    code = """
import signal, sys
from cycloid import ec
# A shell that starts the tests in the background has them ignore the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
key = ec.PrivateKey.generate("P-521")
messages = [b"message"] * 3_000_000
try:
    print("ready", flush=True)
    key.sign_many(messages)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout.readline() == "ready\n"
        program.send_signal(signal.SIGINT)
        # Signing all of them would take minutes.
        rest, _ = program.communicate(timeout=60)
    assert rest == "stopped\n"


def in_child(work):
    """Runs `work` in the child of a fork and returns its bytes."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.write(writer, work())
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        result = file.read()
    assert os.waitpid(child, 0)[1] == 0
    return result


def test_forks(rsa_key):
    key = ec.PrivateKey.generate()
    messages = [b"%d" % i for i in range(200)]
    # Whatever is kept between operations is there before the fork.
    rsa_key.sign(b"message")
    key.public_key.verify_many(key.sign_many(messages), messages)

    def work():
        signature = rsa_key.sign(b"message")
        rsa_key.public_key.verify(signature, b"message")
        assert all(key.public_key.verify_many(key.sign_many(messages), messages))
        return signature

    children = [in_child(work) for _ in range(2)]
    parent = work()
    # Each has its own randomness, so its own salt.
    assert len({parent, *children}) == 3
    fresh = {in_child(lambda: x25519.PrivateKey.generate().to_bytes()) for _ in range(3)}
    assert len(fresh) == 3


def test_forks_while_other_threads_compute(rsa_key):
    stop = threading.Event()
    key = ec.PrivateKey.generate()

    def compute():
        while not stop.is_set():
            rsa_key.sign(b"message")
            key.sign_many([b"message"] * 200)

    threads = [threading.Thread(target=compute) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            signature = in_child(lambda: rsa_key.sign(b"message") + key.sign_many([b"m"])[0])
            rsa_key.public_key.verify(signature[:256], b"message")
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def double(public):
    return public.to_bytes()


def test_spawned_processes():
    public = ec.PrivateKey.generate().public_key
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(double, (public,)) == public.to_bytes()


def test_other_interpreters_are_refused():
    code = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import cycloid
other = interpreters.create()
code = '''
import sys
try:
    import cycloid
except ImportError as error:
    print("refused:", error, flush=True)
'''
run = getattr(interpreters, "exec", None) or interpreters.run_string
run(other, code)
print("alive", bool(cycloid.ec.PrivateKey.generate()), flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.startswith("refused:") and "interpreter" in done.stdout, done
    assert done.stdout.endswith("alive True\n"), done


def test_small_stacks():
    """Threads of 512 KiB have room for every operation."""
    key, bls = ec.PrivateKey.generate("P-521"), min_sig.PrivateKey.generate()
    messages = [b"%d" % i for i in range(20)]
    outcome = []

    def work():
        assert all(key.public_key.verify_many(key.sign_many(messages), messages, threads=1))
        signatures = [bls.sign(message) for message in messages]
        valid = min_sig.verify_many([bls.public_key] * 20, signatures, messages, threads=1)
        outcome.append(all(valid))

    before = threading.stack_size(512 << 10)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert outcome == [True]


def test_exceptions_have_bases():
    for name in cycloid.__all__:
        value = getattr(cycloid, name)
        if isinstance(value, type) and issubclass(value, Exception):
            assert issubclass(value, cycloid.Error) and value.__module__ == "cycloid"
    assert issubclass(cycloid.InvalidKey, ValueError)
    assert issubclass(cycloid.ParameterError, ValueError)
    assert not issubclass(cycloid.InvalidSignature, ValueError)
