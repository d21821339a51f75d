"""Ed25519 and X25519, with `cryptography` on the other side."""

import hashlib

import cycloid
import pytest
from conftest import private_der, public_der, theirs, theirs_public
from cryptography.hazmat.primitives.asymmetric import ed25519 as other_ed
from cryptography.hazmat.primitives.asymmetric import x25519 as other_x
from cycloid import ed25519, x25519


def test_signatures_go_both_ways():
    key = ed25519.PrivateKey.generate()
    signature = key.sign(b"message")
    theirs_public(key.public_key).verify(signature, b"message")
    assert theirs(key).sign(b"message") == signature
    their_key = other_ed.Ed25519PrivateKey.generate()
    public = ed25519.PublicKey.from_der(public_der(their_key.public_key()))
    for rule in ("cofactorless", "strict", "cofactored"):
        public.verify(their_key.sign(b"message"), b"message", rule=rule)
        with pytest.raises(cycloid.InvalidSignature):
            public.verify(their_key.sign(b"message"), b"messagf", rule=rule)
    for wrong in (b"", signature[:-1], signature + b"\0", b"\xff" * 64):
        with pytest.raises(cycloid.InvalidSignature):
            key.public_key.verify(wrong, b"message")


def test_contexts_and_digests():
    # RFC 8032, sections 7.2 and 7.3.
    seed = "0305334e381af78f141cb666f6199f57bc3495335a256a95bd2a55bf546663f6"
    key = ed25519.PrivateKey.from_bytes(bytes.fromhex(seed))
    message = bytes.fromhex("f726936d19c800494e3fdaff20b276a8")
    expected = (
        "55a4cc2f70a54e04288c5f4cd1e45a7bb520b36292911876cada7323198dd87a"
        "8b36950b95130022907a7fb7c4e9b2d5f6cca685a587b4b21f4b888e4e7edb0d"
    )
    assert key.sign(message, context=b"foo") == bytes.fromhex(expected)
    key.public_key.verify(bytes.fromhex(expected), message, context=b"foo")
    for wrong in (b"bar", None):
        with pytest.raises(cycloid.InvalidSignature):
            key.public_key.verify(bytes.fromhex(expected), message, context=wrong)
    seed = "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42"
    key = ed25519.PrivateKey.from_bytes(bytes.fromhex(seed))
    expected = (
        "98a70222f0b8121aa9d30f813d683f809e462b469c7ff87639499bb94e6dae41"
        "31f85042463c2a355a2003d062adf5aaa10b8c61e636062aaad11c2a26083406"
    )
    digest = hashlib.sha512(b"abc").digest()
    assert key.sign(digest, prehashed=True) == bytes.fromhex(expected)
    with pytest.raises(cycloid.ParameterError):
        key.sign(b"abc", prehashed=True)
    with pytest.raises(cycloid.ParameterError):
        key.sign(b"abc", context=bytes(256))
    with pytest.raises(cycloid.ParameterError):
        key.public_key.verify(bytes(64), b"abc", context=bytes(256))


def test_agreement_goes_both_ways():
    key, their_key = x25519.PrivateKey.generate(), other_x.X25519PrivateKey.generate()
    peer = x25519.PublicKey.from_der(public_der(their_key.public_key()))
    assert key.agree(peer) == their_key.exchange(theirs_public(key.public_key))
    with pytest.raises(cycloid.AgreementError):
        key.agree(x25519.PublicKey.from_bytes(bytes(32)))


@pytest.mark.parametrize("module", [ed25519, x25519])
def test_keys_go_both_ways(module):
    key = module.PrivateKey.generate()
    for again in (
        module.PrivateKey.from_bytes(key.to_bytes()),
        module.PrivateKey.from_der(key.to_der()),
        module.PrivateKey.from_pem(key.to_pem()),
        module.PrivateKey.from_der(private_der(theirs(key))),
    ):
        assert again.public_key == key.public_key and again.to_bytes() == key.to_bytes()
    public = key.public_key
    for again in (
        module.PublicKey.from_bytes(public.to_bytes()),
        module.PublicKey.from_der(public.to_der()),
        module.PublicKey.from_pem(public.to_pem()),
    ):
        assert again == public and hash(again) == hash(public)
    for reader in (module.PrivateKey.from_der, module.PublicKey.from_der):
        for wrong in (b"", key.to_der()[:-1], public.to_der()[:-1]):
            with pytest.raises(cycloid.InvalidKey):
                reader(wrong)
    with pytest.raises(cycloid.InvalidKey):
        module.PublicKey.from_der(key.to_der())
    other = x25519 if module is ed25519 else ed25519
    with pytest.raises(cycloid.InvalidKey):
        other.PrivateKey.from_der(key.to_der())


def test_keys_of_other_classes():
    key, other = x25519.PrivateKey.generate(), ed25519.PrivateKey.generate().public_key
    message = "a cycloid.x25519.PublicKey is required, not 'cycloid.ed25519.PublicKey'"
    for call in (
        lambda: key.agree(other),
        lambda: key.agree_many([key.public_key, other]),
        lambda: x25519.agree_many([key], [other]),
    ):
        with pytest.raises(TypeError, match=message):
            call()
    with pytest.raises(TypeError, match="a cycloid.x25519.PublicKey is required, not 'NoneType'"):
        key.agree(None)
    with pytest.raises(TypeError, match="a cycloid.ed25519.PrivateKey is required"):
        ed25519.sign_many([other], [b""])


@pytest.mark.parametrize("module", [ed25519, x25519])
def test_keys_of_wrong_length(module):
    for length in (0, 31, 33):
        for read in (module.PrivateKey.from_bytes, module.PublicKey.from_bytes):
            with pytest.raises(cycloid.InvalidKey, match=f"{length} bytes, but 32 are needed"):
                read(bytes(length))


def test_bytes_that_are_no_point():
    with pytest.raises(cycloid.InvalidKey):
        ed25519.PublicKey.from_bytes(b"\2" + bytes(31))
