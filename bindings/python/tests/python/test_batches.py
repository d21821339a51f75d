"""Batches: the same results as single operations, in any place, with any neighbours."""

import random

import cycloid
import pytest
from cycloid import dh, ec, ed25519, rsa, x25519

COUNTS = [0, 1, 2, 3, 4, 7, 8, 9, 63, 64, 65, 200]
CURVES = ["P-224", "P-256", "P-384", "P-521"]


def messages(count):
    return [b"message %d" % i for i in range(count)]


@pytest.mark.parametrize("threads", [None, 1, 3])
@pytest.mark.parametrize("curve", CURVES)
def test_ecdsa(curve, threads):
    key = ec.PrivateKey.generate(curve)
    for count in COUNTS:
        signatures = key.sign_many(messages(count), threads=threads)
        if count <= 9:
            assert signatures == [key.sign(message) for message in messages(count)]
        # A key without multiples, and one that has them afterwards.
        public = ec.PublicKey.from_der(key.public_key.to_der())
        wrong = set(random.sample(range(count), count // 3))
        mixed = [signatures[i - 1] if i in wrong else signatures[i] for i in range(count)]
        expected = [i not in wrong for i in range(count)]
        if count > 1:
            assert public.verify_many(mixed, messages(count), threads=threads) == expected
        if count > 3:
            mixed[3] = b"no signature"
            expected[3] = False
        found = ec.verify_many([public] * count, mixed, messages(count), threads=threads)
        assert found == (expected if count > 1 else [True] * count)


def test_ecdsa_with_keys_on_all_curves():
    keys = [ec.PrivateKey.generate(random.choice(CURVES)) for _ in range(100)]
    public = [key.public_key for key in keys]
    for options in ({}, {"hash": "sha256", "encoding": "raw"}, {"hash": "sha3_512"}):
        signatures = ec.sign_many(keys, messages(100), **options)
        expected = [key.sign(message, **options) for key, message in zip(keys, messages(100))]
        assert signatures == expected
        valid = ec.verify_many(public, signatures, messages(100), **options)
        assert valid == [True] * 100
        # The next key may be on another curve.
        rotated = public[1:] + public[:1]
        assert not any(ec.verify_many(rotated, signatures, messages(100), **options))


def test_ecdh():
    key = ec.PrivateKey.generate("P-384")
    peers = [ec.PrivateKey.generate("P-384") for _ in range(20)]
    secrets = key.agree_many([peer.public_key for peer in peers])
    assert secrets == [peer.agree(key.public_key) for peer in peers]
    assert ec.agree_many(peers, [key.public_key] * 20) == secrets
    mixed = [peer.public_key for peer in peers]
    mixed[7] = ec.PrivateKey.generate("P-256").public_key
    with pytest.raises(cycloid.ParameterError) as raised:
        key.agree_many(mixed)
    assert raised.value.index == 7
    found = key.agree_many(mixed, return_exceptions=True)
    assert isinstance(found[7], cycloid.ParameterError)
    assert found[:7] + found[8:] == secrets[:7] + secrets[8:]


@pytest.mark.parametrize("options", [{}, {"context": b"here"}])
def test_ed25519(options):
    keys = [ed25519.PrivateKey.generate() for _ in range(70)]
    public = [key.public_key for key in keys]
    signatures = ed25519.sign_many(keys, messages(70), **options)
    assert signatures == [key.sign(m, **options) for key, m in zip(keys, messages(70))]
    mixed = [b"", *signatures[1:68], signatures[0], signatures[69]]
    expected = [False] + [True] * 67 + [False, True]
    for rule in ("cofactorless", "strict", "cofactored"):
        assert ed25519.verify_many(public, mixed, messages(70), rule=rule, **options) == expected
    for count in COUNTS:
        signatures = keys[0].sign_many(messages(count))
        assert public[0].verify_many(signatures, messages(count)) == [True] * count


def test_x25519():
    key = x25519.PrivateKey.generate()
    peers = [x25519.PrivateKey.generate() for _ in range(70)]
    public = [peer.public_key for peer in peers]
    secrets = key.agree_many(public)
    assert secrets == [peer.agree(key.public_key) for peer in peers]
    assert x25519.agree_many(peers, [key.public_key] * 70) == secrets
    public[9] = x25519.PublicKey.from_bytes(bytes(32))
    with pytest.raises(cycloid.AgreementError) as raised:
        key.agree_many(public)
    assert raised.value.index == 9
    found = key.agree_many(public, return_exceptions=True)
    assert isinstance(found[9], cycloid.AgreementError) and found[9].index == 9
    assert found[:9] + found[10:] == secrets[:9] + secrets[10:]


def test_dh():
    key = dh.PrivateKey.generate("ffdhe2048")
    peers = [dh.PrivateKey.generate("ffdhe2048") for _ in range(9)]
    public = [peer.public_key for peer in peers]
    secrets = key.agree_many(public)
    assert secrets == [peer.agree(key.public_key) for peer in peers]
    public[2] = dh.PublicKey.from_bytes("ffdhe2048", b"\1")
    found = key.agree_many(public, return_exceptions=True)
    assert isinstance(found[2], cycloid.AgreementError)
    assert found[:2] + found[3:] == secrets[:2] + secrets[3:]


def test_rsa(rsa_key):
    longer = rsa.PrivateKey.generate(2056)
    keys = [longer if i % 3 == 0 else rsa_key for i in range(20)]
    public = [key.public_key for key in keys]
    for options in (
        {},
        {"padding": "pkcs1v15", "hash": "sha512"},
        {"salt_length": 0},
        {"hash": "sha3_256", "salt_length": 11},
    ):
        signatures = rsa.sign_many(keys, messages(20), **options)
        for key, signature, message in zip(public, signatures, messages(20)):
            key.verify(signature, message, **options)
        signatures[4], signatures[5] = b"", bytes(256)
        expected = [i not in (4, 5) for i in range(20)]
        assert rsa.verify_many(public, signatures, messages(20), **options) == expected
    signatures = rsa_key.sign_many(messages(10))
    assert rsa_key.public_key.verify_many(signatures, messages(10)) == [True] * 10
    valid = rsa_key.public_key.verify_many(signatures, messages(10), salt_length="any")
    assert valid == [True] * 10


def test_lists_of_different_lengths(rsa_key):
    key = ec.PrivateKey.generate()
    edwards = ed25519.PrivateKey.generate()
    for call in (
        lambda: key.public_key.verify_many([b""], []),
        lambda: key.public_key.verify_many([], [b""]),
        lambda: ec.sign_many([key], []),
        lambda: ec.verify_many([key.public_key], [], []),
        lambda: ec.agree_many([key], []),
        lambda: edwards.public_key.verify_many([b""], []),
        lambda: ed25519.sign_many([], [b""]),
        lambda: rsa_key.public_key.verify_many([b""], []),
        lambda: rsa.sign_many([rsa_key], []),
        lambda: key.sign_many([b""], threads=0),
    ):
        with pytest.raises(cycloid.ParameterError):
            call()
    with pytest.raises((TypeError, OverflowError)):
        key.sign_many([b""], threads=-1)


def test_a_huge_batch():
    """Half a million elements, most of which are refused, and more threads than there can be."""
    key = ec.PrivateKey.generate()
    signatures = [b""] * 500_000
    signatures[123_456] = key.sign(b"message")
    valid = key.public_key.verify_many(signatures, [b"message"] * 500_000, threads=1 << 40)
    assert [place for place, value in enumerate(valid) if value] == [123_456]
