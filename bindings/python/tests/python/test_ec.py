"""ECDSA and ECDH, with `cryptography` on the other side."""

import hashlib

import cycloid
import pytest
from conftest import HASHES, private_der, public_der, theirs, theirs_public
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec as other
from cryptography.hazmat.primitives.asymmetric import utils
from cycloid import ec

CURVES = {
    "P-224": other.SECP224R1(),
    "P-256": other.SECP256R1(),
    "P-384": other.SECP384R1(),
    "P-521": other.SECP521R1(),
}
USUAL = {"P-224": "sha256", "P-256": "sha256", "P-384": "sha384", "P-521": "sha512"}
LENGTH = {"P-224": 28, "P-256": 32, "P-384": 48, "P-521": 66}


@pytest.fixture(params=CURVES, scope="module")
def curve(request):
    return request.param


@pytest.fixture(scope="module")
def key(curve):
    return ec.PrivateKey.generate(curve)


def test_they_verify_what_we_sign(curve, key):
    for name, function in HASHES.items():
        signature = key.sign(b"message", hash=name)
        theirs_public(key.public_key).verify(signature, b"message", other.ECDSA(function()))
    signature = key.sign(b"message")
    theirs_public(key.public_key).verify(signature, b"message", other.ECDSA(HASHES[USUAL[curve]]()))
    with pytest.raises(InvalidSignature):
        theirs_public(key.public_key).verify(signature, b"other", other.ECDSA(HASHES["sha256"]()))


def test_we_verify_what_they_sign(curve):
    key = other.generate_private_key(CURVES[curve])
    public = ec.PublicKey.from_der(public_der(key.public_key()))
    assert public.curve == curve
    for name, function in HASHES.items():
        signature = key.sign(b"message", other.ECDSA(function()))
        assert public.verify(signature, b"message", hash=name) is None
        for wrong in (b"messagf", b"", b"message\0"):
            with pytest.raises(cycloid.InvalidSignature):
                public.verify(signature, wrong, hash=name)


def test_signatures_are_deterministic_unless_hedged(key):
    assert key.sign(b"message") == key.sign(b"message")
    hedged = {key.sign(b"message", hedged=True) for _ in range(4)}
    assert len(hedged) == 4
    for signature in hedged:
        key.public_key.verify(signature, b"message")
    digest = hashlib.sha256(b"message").digest()
    signature = key.sign(digest, hash="sha256", prehashed=True, hedged=True)
    key.public_key.verify(signature, b"message", hash="sha256")


def test_rfc_6979():
    # Appendix A.2.5.
    number = bytes.fromhex("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721")
    expected = (
        "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716"
        "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
    )
    key = ec.PrivateKey.from_bytes("P-256", number)
    assert key.sign(b"sample", encoding="raw") == bytes.fromhex(expected)
    assert key.to_bytes() == number


def test_encodings_of_signatures(curve, key):
    raw = key.sign(b"message", encoding="raw")
    assert len(raw) == 2 * LENGTH[curve]
    r, s = utils.decode_dss_signature(key.sign(b"message"))
    assert raw == r.to_bytes(LENGTH[curve], "big") + s.to_bytes(LENGTH[curve], "big")
    key.public_key.verify(raw, b"message", encoding="raw")
    for encoding, wrong in (("raw", key.sign(b"message")), ("der", raw), ("der", b""), ("raw", b"")):
        with pytest.raises(cycloid.InvalidSignature):
            key.public_key.verify(wrong, b"message", encoding=encoding)
    for wrong in (bytes(2 * LENGTH[curve]), b"\xff" * 2 * LENGTH[curve]):
        with pytest.raises(cycloid.InvalidSignature):
            key.public_key.verify(wrong, b"message", encoding="raw")


def test_prehashed(key):
    digest = hashlib.sha512(b"message").digest()
    signature = key.sign(digest, hash="sha512", prehashed=True)
    key.public_key.verify(signature, b"message", hash="sha512")
    key.public_key.verify(signature, digest, hash="sha512", prehashed=True)
    for wrong in (digest[:-1], digest + b"\0", b""):
        with pytest.raises(cycloid.ParameterError):
            key.sign(wrong, hash="sha512", prehashed=True)
        with pytest.raises(cycloid.ParameterError):
            key.public_key.verify(signature, wrong, hash="sha512", prehashed=True)


def test_agreement(curve, key):
    peer = other.generate_private_key(CURVES[curve])
    secret = key.agree(ec.PublicKey.from_der(public_der(peer.public_key())))
    assert secret == peer.exchange(other.ECDH(), theirs_public(key.public_key))
    foreign = ec.PrivateKey.generate("P-256" if curve != "P-256" else "P-384").public_key
    with pytest.raises(cycloid.ParameterError):
        key.agree(foreign)


def test_keys_go_both_ways(curve, key):
    assert theirs(key).private_numbers().private_value == int.from_bytes(key.to_bytes(), "big")
    for again in (
        ec.PrivateKey.from_der(key.to_der()),
        ec.PrivateKey.from_pem(key.to_pem()),
        ec.PrivateKey.from_pem(key.to_pem().encode()),
        ec.PrivateKey.from_bytes(curve, key.to_bytes()),
        ec.PrivateKey.from_der(private_der(theirs(key))),
    ):
        assert again.public_key == key.public_key and again.curve == curve
    public = key.public_key
    for again in (
        ec.PublicKey.from_der(public.to_der()),
        ec.PublicKey.from_pem(public.to_pem()),
        ec.PublicKey.from_bytes(curve, public.to_bytes()),
        ec.PublicKey.from_bytes(curve, public.to_bytes(compressed=True)),
    ):
        assert again == public and hash(again) == hash(public)
    assert public != ec.PrivateKey.generate(curve).public_key
    assert public != "another type"


def test_bytes_that_are_no_key(curve, key):
    length = LENGTH[curve]
    for wrong in (b"", bytes(length), b"\xff" * length, bytes(length - 1), b"\1" * (length + 1)):
        with pytest.raises(cycloid.InvalidKey):
            ec.PrivateKey.from_bytes(curve, wrong)
    point = bytearray(key.public_key.to_bytes())
    point[-1] ^= 1
    for wrong in (b"", b"\0", bytes(point), bytes(point[:-1]), b"\4" + bytes(2 * length)):
        with pytest.raises(cycloid.InvalidKey):
            ec.PublicKey.from_bytes(curve, wrong)
    for reader in (ec.PrivateKey.from_der, ec.PublicKey.from_der):
        for wrong in (b"", b"\x30\x00", key.to_der()[:-1], b"x" * 1000):
            with pytest.raises(cycloid.InvalidKey):
                reader(wrong)
    with pytest.raises(cycloid.InvalidKey):
        ec.PublicKey.from_der(key.to_der())
    with pytest.raises(cycloid.InvalidKey):
        ec.PrivateKey.from_pem(key.public_key.to_pem())


def test_prepared_keys_verify_the_same(curve, key):
    public = ec.PublicKey.from_der(key.public_key.to_der())
    signature = key.sign(b"message")
    public.verify(signature, b"message")
    public.prepare()
    public.prepare()
    public.verify(signature, b"message")
    with pytest.raises(cycloid.InvalidSignature):
        public.verify(signature, b"messagf")


def test_names_are_checked(key):
    with pytest.raises(cycloid.ParameterError, match="unknown curve"):
        ec.PrivateKey.generate("P-999")
    with pytest.raises(cycloid.ParameterError, match="use one of sha1"):
        key.sign(b"", hash="md5")
    with pytest.raises(cycloid.ParameterError):
        key.sign(b"", encoding="DER")
    with pytest.raises(TypeError):
        ec.PrivateKey.generate(256)
    with pytest.raises(TypeError):
        key.sign(b"", hash=hashlib.sha256)
    with pytest.raises(cycloid.ParameterError, match="has 31 bytes, but that of sha384 has 48"):
        key.sign(bytes(31), hash="sha384", prehashed=True)
