"""BLS signatures."""

import pickle

import cycloid
import pytest
from cycloid.bls import min_pk, min_sig

MODULES = [min_pk, min_sig]


@pytest.fixture(params=MODULES, ids=["min_pk", "min_sig"])
def bls(request):
    return request.param


def test_vectors_of_ethereum():
    # consensus-spec-tests, bls/sign: the private key 263dbd79…, a message of 32 zeros.
    number = "263dbd792f5b1be47ed85f8938c0f29586af0d3ac7b977f21c278fe1462040e3"
    key = min_pk.PrivateKey.from_bytes(bytes.fromhex(number))
    assert key.public_key.to_bytes().hex() == (
        "a491d1b0ecd9bb917989f0e74f0dea0422eac4a873e5e2644f368dffb9a6e20f"
        "d6e10c1b77654d067c0618f6e5a7f79a"
    )
    assert key.sign(bytes(32)).to_bytes().hex() == (
        "b6ed936746e01f8ecf281f020953fbf1f01debd5657c4a383940b020b26507f6"
        "076334f91e2366c96e9ab279fb5158090352ea1c5b0c9274504f4f0e7053af24"
        "802e51e4568d164fe986834f41e55c8e850ce1f98458c0cfc9ab380b55285a55"
    )


def test_derivation_of_eip_2333():
    # Test case 0.
    seed = bytes.fromhex(
        "c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e53495531f09a6987599d18264c1e1c92f2cf141630c7a3c4ab7c81b2f001698e7463b04"
    )
    key = min_pk.PrivateKey.derive_path(seed, [0])
    child = 20397789859736650942317412262472558107875392172444076792671091975210932703118
    assert int.from_bytes(key.to_bytes(), "big") == child


@pytest.mark.parametrize("scheme", ["basic", "augmented", "possession"])
def test_signatures(bls, scheme):
    key = bls.PrivateKey.generate()
    signature = key.sign(b"message", scheme=scheme)
    for given in (signature, bytes(signature), bytearray(bytes(signature))):
        assert key.public_key.verify(given, b"message", scheme=scheme) is None
        with pytest.raises(cycloid.InvalidSignature):
            key.public_key.verify(given, b"messagf", scheme=scheme)
    for wrong in (b"", bytes(signature)[:-1], bytes(len(bytes(signature)))):
        with pytest.raises(cycloid.InvalidSignature):
            key.public_key.verify(wrong, b"message", scheme=scheme)
    other = "basic" if scheme != "basic" else "possession"
    with pytest.raises(cycloid.InvalidSignature):
        key.public_key.verify(signature, b"message", scheme=other)
    with pytest.raises(TypeError):
        key.public_key.verify(None, b"message", scheme=scheme)


def test_possession(bls):
    key = bls.PrivateKey.generate()
    key.public_key.verify_possession(key.prove_possession())
    with pytest.raises(cycloid.InvalidSignature):
        key.public_key.verify_possession(bls.PrivateKey.generate().prove_possession())


def test_shared_keys(bls):
    key = bls.PrivateKey.generate()
    shares = key.share(3, 5)
    assert len(shares) == 5
    assert len({share.to_bytes() for share in shares}) == 5
    numbered = dict(enumerate(shares, 1))
    for some in ([1, 2, 3], [5, 1, 4], [1, 2, 3, 4, 5]):
        keys = {number: numbered[number] for number in some}
        assert bls.recover_private_key(keys).to_bytes() == key.to_bytes()
        public = {number: share.public_key for number, share in keys.items()}
        assert bls.recover_public_key(public) == key.public_key
        signed = {number: share.sign(b"message") for number, share in keys.items()}
        signature = bls.recover_signature(signed)
        assert signature == key.sign(b"message")
        key.public_key.verify(signature, b"message")
    # Too few of them, and a signature under another number, give something else.
    few = {number: numbered[number] for number in (2, 4)}
    assert bls.recover_private_key(few).to_bytes() != key.to_bytes()
    exchanged = {1: shares[0], 2: shares[1], 4: shares[2]}
    wrong = bls.recover_signature({n: share.sign(b"message") for n, share in exchanged.items()})
    with pytest.raises(cycloid.InvalidSignature):
        key.public_key.verify(wrong, b"message")


def test_shares_that_make_no_sense(bls):
    key = bls.PrivateKey.generate()
    for threshold, holders in ((0, 3), (4, 3), (1, 0)):
        with pytest.raises(cycloid.ParameterError):
            key.share(threshold, holders)
    for threshold, holders in ((-1, 3), (1, -1), (1, 1 << 16)):
        with pytest.raises(OverflowError):
            key.share(threshold, holders)
    recoveries = [
        (bls.recover_private_key, key),
        (bls.recover_public_key, key.public_key),
        (bls.recover_signature, key.sign(b"message")),
    ]
    for recover, share in recoveries:
        for wrong in ({}, {0: share}):
            with pytest.raises(cycloid.ParameterError):
                recover(wrong)
        with pytest.raises(OverflowError):
            recover({-1: share})
        with pytest.raises(TypeError):
            recover({1: b"bytes"})
        with pytest.raises(TypeError):
            recover([share])


def test_aggregates(bls):
    keys = [bls.PrivateKey.generate() for _ in range(4)]
    public = [key.public_key for key in keys]
    one = bls.Signature.aggregate([key.sign(b"message") for key in keys])
    bls.fast_aggregate_verify(public, b"message", one)
    bls.PublicKey.aggregate(public).verify(one, b"message")
    messages = [b"%d" % i for i in range(4)]
    many = bls.Signature.aggregate([key.sign(m) for key, m in zip(keys, messages)])
    bls.aggregate_verify(public, messages, many)
    with pytest.raises(cycloid.InvalidSignature):
        bls.aggregate_verify(public, messages[::-1], many)
    with pytest.raises(cycloid.InvalidSignature):
        bls.fast_aggregate_verify(public[1:], b"message", one)
    with pytest.raises(cycloid.ParameterError):
        bls.fast_aggregate_verify([], b"message", one)
    with pytest.raises(cycloid.ParameterError):
        bls.aggregate_verify(public, messages[1:], many)
    with pytest.raises(cycloid.ParameterError):
        bls.aggregate_verify(public, [b"same"] * 4, many, scheme="basic")
    with pytest.raises(cycloid.ParameterError):
        bls.Signature.aggregate([])


def test_batches(bls):
    keys = [bls.PrivateKey.generate() for _ in range(5)]
    keys = [keys[i % 5] for i in range(20)]
    messages = [b"%d" % i for i in range(20)]
    signatures = [key.sign(message) for key, message in zip(keys, messages)]
    public = [key.public_key for key in keys]
    assert bls.verify_many(public, signatures, messages) == [True] * 20
    assert bls.verify_many(public, [bytes(s) for s in signatures], messages) == [True] * 20
    for wrong in ([3], [0, 19], [4, 5, 6, 7], list(range(20))):
        mixed = [signatures[(i + 1) % 20] if i in wrong else signatures[i] for i in range(20)]
        expected = [i not in wrong for i in range(20)]
        assert bls.verify_many(public, mixed, messages) == expected
    mixed = [b"no signature", *signatures[1:-1], b""]
    assert bls.verify_many(public, mixed, messages) == [False] + [True] * 18 + [False]
    assert bls.verify_many(public[:1], [b""], messages[:1]) == [False]
    assert bls.verify_many([], [], []) == []


def test_keys(bls):
    key = bls.PrivateKey.generate()
    again = bls.PrivateKey.from_bytes(key.to_bytes())
    assert again.public_key == key.public_key and hash(again.public_key) == hash(key.public_key)
    assert key.public_key != bls.PrivateKey.generate().public_key
    assert bls.PublicKey.from_bytes(key.public_key.to_bytes()) == key.public_key
    signature = key.sign(b"message")
    for value in (key.public_key, signature):
        assert pickle.loads(pickle.dumps(value)) == value
    for wrong in (b"", bytes(32), b"\xff" * 32, bytes(31), bytes(33)):
        with pytest.raises(cycloid.InvalidKey):
            bls.PrivateKey.from_bytes(wrong)
    encoded = key.public_key.to_bytes()
    for wrong in (b"", encoded[:-1], bytes(len(encoded)), b"\xc0" + bytes(len(encoded) - 1)):
        with pytest.raises(cycloid.InvalidKey):
            bls.PublicKey.from_bytes(wrong)
    with pytest.raises(cycloid.ParameterError):
        bls.PrivateKey.derive(bytes(31))
    assert bls.PrivateKey.derive(bytes(32)).to_bytes() == bls.PrivateKey.derive(bytes(32)).to_bytes()
