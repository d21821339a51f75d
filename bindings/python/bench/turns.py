"""Measures Cycloid from Python next to `cryptography`, both in turns in one process.

    python bench/turns.py [--rounds N] [--only NAME] [--processor]

Prints microseconds for one operation, from the fastest round of each. `cryptography` computes in a loop,
as its users do; `*_many` is one call for all. On a machine with other load, `--processor` counts the
processor time of all threads instead of the time that passes.
"""

import argparse
import os
import time

import cycloid
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec as their_ec
from cryptography.hazmat.primitives.asymmetric import padding
from cycloid import ec, ed25519, rsa, x25519

COUNT = 1000


def theirs(key):
    return serialization.load_der_private_key(key.to_der(), None)


def loop(operation, *lists):
    def run():
        for arguments in zip(*lists):
            operation(*arguments)

    return run


def ecdsa(curve, count):
    key = ec.PrivateKey.generate(curve)
    other, algorithm = theirs(key), their_ec.ECDSA(hashes.SHA256())
    messages = [b"message %d" % i for i in range(count)]
    signatures = key.sign_many(messages, hash="sha256")
    public, their_public = key.public_key, other.public_key()
    keys = [ec.PrivateKey.generate(curve).public_key for _ in range(count)]
    yield f"{curve} sign", count, {
        "cryptography": loop(lambda m: other.sign(m, algorithm), messages),
        "one": loop(lambda m: key.sign(m, hash="sha256"), messages),
        "many": lambda: key.sign_many(messages, hash="sha256"),
        "many, one thread": lambda: key.sign_many(messages, hash="sha256", threads=1),
    }
    yield f"{curve} verify", count, {
        "cryptography": loop(
            lambda s, m: their_public.verify(s, m, algorithm), signatures, messages
        ),
        "one": loop(
            lambda s, m, k=ec.PublicKey.from_der(public.to_der()): k.verify(s, m, hash="sha256"),
            signatures,
            messages,
        ),
        "many": lambda: public.verify_many(signatures, messages, hash="sha256"),
        "many, one thread": lambda: public.verify_many(
            signatures, messages, hash="sha256", threads=1
        ),
    }
    # Signatures of other keys are invalid, which takes as long.
    their_keys = [serialization.load_der_public_key(k.to_der()) for k in keys]

    def refuse(k, s, m):
        try:
            k.verify(s, m, algorithm)
        except InvalidSignature:
            pass

    yield f"{curve} verify, a key each", count, {
        "cryptography": loop(refuse, their_keys, signatures, messages),
        "many": lambda: ec.verify_many(keys, signatures, messages, hash="sha256"),
        "many, one thread": lambda: ec.verify_many(
            keys, signatures, messages, hash="sha256", threads=1
        ),
    }
    peers = [serialization.load_der_public_key(k.to_der()) for k in keys]
    yield f"{curve} agree", count, {
        "cryptography": loop(lambda p: other.exchange(their_ec.ECDH(), p), peers),
        "one": loop(key.agree, keys),
        "many": lambda: key.agree_many(keys),
        "many, one thread": lambda: key.agree_many(keys, threads=1),
    }


def curve25519(count):
    key = ed25519.PrivateKey.generate()
    other = theirs(key)
    messages = [b"message %d" % i for i in range(count)]
    signatures = key.sign_many(messages)
    public, their_public = key.public_key, other.public_key()
    yield "Ed25519 sign", count, {
        "cryptography": loop(other.sign, messages),
        "one": loop(key.sign, messages),
        "many": lambda: key.sign_many(messages),
        "many, one thread": lambda: key.sign_many(messages, threads=1),
    }
    yield "Ed25519 verify", count, {
        "cryptography": loop(their_public.verify, signatures, messages),
        "one": loop(public.verify, signatures, messages),
        "many": lambda: public.verify_many(signatures, messages),
        "many, one thread": lambda: public.verify_many(signatures, messages, threads=1),
    }
    key = x25519.PrivateKey.generate()
    other = theirs(key)
    keys = [x25519.PrivateKey.generate().public_key for _ in range(count)]
    peers = [serialization.load_der_public_key(k.to_der()) for k in keys]
    yield "X25519 agree", count, {
        "cryptography": loop(other.exchange, peers),
        "one": loop(key.agree, keys),
        "many": lambda: key.agree_many(keys),
        "many, one thread": lambda: key.agree_many(keys, threads=1),
    }


def rsa_2048(count):
    key = rsa.PrivateKey.generate(2048)
    other = theirs(key)
    pss = padding.PSS(padding.MGF1(hashes.SHA256()), 32), hashes.SHA256()
    messages = [b"message %d" % i for i in range(count)]
    signatures = key.sign_many(messages)
    public, their_public = key.public_key, other.public_key()
    yield "RSA-2048 sign, PSS", count, {
        "cryptography": loop(lambda m: other.sign(m, *pss), messages),
        "one": loop(key.sign, messages),
        "many": lambda: key.sign_many(messages),
        "many, one thread": lambda: key.sign_many(messages, threads=1),
    }
    yield "RSA-2048 verify, PSS", count, {
        "cryptography": loop(lambda s, m: their_public.verify(s, m, *pss), signatures, messages),
        "one": loop(public.verify, signatures, messages),
        "many": lambda: public.verify_many(signatures, messages),
        "many, one thread": lambda: public.verify_many(signatures, messages, threads=1),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--processor", action="store_true")
    options = parser.parse_args()
    clock = time.process_time if options.processor else time.perf_counter
    print(f"{cycloid.cpu_level()}, {os.cpu_count()} processors; microseconds, and times faster")
    suites = (ecdsa("P-256", COUNT), curve25519(COUNT), ecdsa("P-384", 200), rsa_2048(200))
    for name, count, sides in (row for suite in suites for row in suite):
        if options.only not in name:
            continue
        best = dict.fromkeys(sides, float("inf"))
        for _ in range(options.rounds):
            for side, run in sides.items():
                begin = clock()
                run()
                best[side] = min(best[side], clock() - begin)
        peer = best["cryptography"]
        cells = (
            f"{side} {seconds / count * 1e6:.1f} ({peer / seconds:.2f}×)"
            for side, seconds in best.items()
        )
        print(f"{name}: " + ", ".join(cells), flush=True)


if __name__ == "__main__":
    main()
