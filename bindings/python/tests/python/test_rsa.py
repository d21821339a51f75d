"""RSA, with `cryptography` on the other side."""

import hashlib

import cycloid
import pytest
from conftest import HASHES, private_der, public_der, theirs, theirs_public
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric import rsa as other
from cycloid import rsa


@pytest.fixture(scope="module")
def their_key():
    return other.generate_private_key(65537, 2048)


def pss(function, salt_length):
    return padding.PSS(padding.MGF1(function()), salt_length)


def test_they_verify_what_we_sign(rsa_key):
    public = theirs_public(rsa_key.public_key)
    for name, function in HASHES.items():
        signature = rsa_key.sign(b"message", hash=name)
        public.verify(signature, b"message", pss(function, function.digest_size), function())
        signature = rsa_key.sign(b"message", hash=name, salt_length=7)
        public.verify(signature, b"message", pss(function, 7), function())
        signature = rsa_key.sign(b"message", padding="pkcs1v15", hash=name)
        public.verify(signature, b"message", padding.PKCS1v15(), function())


def test_we_verify_what_they_sign(their_key):
    public = rsa.PublicKey.from_der(public_der(their_key.public_key()))
    for name, function in HASHES.items():
        signature = their_key.sign(b"message", padding.PKCS1v15(), function())
        public.verify(signature, b"message", padding="pkcs1v15", hash=name)
        with pytest.raises(cycloid.InvalidSignature):
            public.verify(signature, b"message", hash=name)
        signature = their_key.sign(b"message", pss(function, function.digest_size), function())
        public.verify(signature, b"message", hash=name)
        with pytest.raises(cycloid.InvalidSignature):
            public.verify(signature, b"messagf", hash=name)
        longest = pss(function, padding.PSS.MAX_LENGTH)
        signature = their_key.sign(b"message", longest, function())
        public.verify(signature, b"message", hash=name, salt_length="any")
        public.verify(
            signature, b"message", hash=name, salt_length=256 - function.digest_size - 2
        )
        with pytest.raises(cycloid.InvalidSignature):
            public.verify(signature, b"message", hash=name)


def test_prehashed(rsa_key):
    digest = hashlib.sha384(b"message").digest()
    for options in ({}, {"salt_length": 0}, {"padding": "pkcs1v15"}):
        signature = rsa_key.sign(digest, hash="sha384", prehashed=True, **options)
        rsa_key.public_key.verify(signature, b"message", hash="sha384", **options)
        rsa_key.public_key.verify(signature, digest, hash="sha384", prehashed=True, **options)
        with pytest.raises(cycloid.ParameterError):
            rsa_key.sign(digest[1:], hash="sha384", prehashed=True, **options)


def test_signatures_of_wrong_lengths(rsa_key):
    signature = rsa_key.sign(b"message")
    for wrong in (b"", signature[:-1], signature + b"\0", b"\xff" * 256, bytes(256)):
        with pytest.raises(cycloid.InvalidSignature):
            rsa_key.public_key.verify(wrong, b"message")


def test_parameters(rsa_key):
    with pytest.raises(cycloid.ParameterError):
        rsa_key.sign(b"", padding="pkcs1v15", salt_length=3)
    with pytest.raises(cycloid.ParameterError):
        rsa_key.sign(b"", salt_length="any")
    with pytest.raises(cycloid.ParameterError):
        rsa_key.sign(b"", salt_length=1000)
    with pytest.raises(cycloid.ParameterError):
        rsa_key.sign(b"", padding="none")
    with pytest.raises(cycloid.ParameterError):
        rsa_key.sign(b"", hash="sha1")
    with pytest.raises(TypeError):
        rsa_key.sign(b"", salt_length=-1)
    with pytest.raises(cycloid.ParameterError):
        rsa.PrivateKey.generate(512)


def test_encryption(rsa_key, their_key):
    public = theirs_public(rsa_key.public_key)
    ours = rsa.PrivateKey.from_der(private_der(their_key))
    for name, function in HASHES.items():
        if name.startswith("sha3"):
            # `cryptography` has OAEP with SHA-2 only.
            ciphertext = rsa_key.public_key.encrypt(b"secret", hash=name)
            assert rsa_key.decrypt(ciphertext, hash=name) == b"secret"
            continue
        for label in (None, b"label"):
            oaep = padding.OAEP(padding.MGF1(function()), function(), label)
            ciphertext = public.encrypt(b"secret", oaep)
            assert rsa_key.decrypt(ciphertext, hash=name, label=label) == b"secret"
            ciphertext = ours.public_key.encrypt(b"secret", hash=name, label=label)
            assert their_key.decrypt(ciphertext, oaep) == b"secret"
    oaep = padding.OAEP(padding.MGF1(HASHES["sha224"]()), HASHES["sha256"](), None)
    ciphertext = public.encrypt(b"", oaep)
    assert rsa_key.decrypt(ciphertext, mask_hash="sha224") == b""
    ciphertext = public.encrypt(b"secret", padding.PKCS1v15())
    assert rsa_key.decrypt(ciphertext, padding="pkcs1v15") == b"secret"
    ciphertext = ours.public_key.encrypt(b"secret", padding="pkcs1v15")
    assert their_key.decrypt(ciphertext, padding.PKCS1v15()) == b"secret"


def test_ciphertexts_that_are_wrong(rsa_key):
    ciphertext = rsa_key.public_key.encrypt(b"secret")
    changed = bytes([ciphertext[0], ciphertext[1] ^ 1]) + ciphertext[2:]
    for wrong in (b"", ciphertext[:-1], ciphertext + b"\0", b"\xff" * 256, changed):
        with pytest.raises(cycloid.DecryptionError):
            rsa_key.decrypt(wrong)
    with pytest.raises(cycloid.DecryptionError):
        rsa_key.decrypt(ciphertext, label=b"another")
    with pytest.raises(cycloid.DecryptionError):
        rsa_key.decrypt(ciphertext, hash="sha512")
    # With the older padding, a wrong ciphertext has a message like any other.
    assert rsa_key.decrypt(changed, padding="pkcs1v15") == rsa_key.decrypt(
        changed, padding="pkcs1v15"
    )
    with pytest.raises(cycloid.ParameterError):
        rsa_key.public_key.encrypt(bytes(191))


def test_many_ciphertexts(rsa_key):
    public = rsa_key.public_key
    messages = [b"%d" % i for i in range(19)]
    ciphertexts = [public.encrypt(message, label=b"label") for message in messages]
    for threads in (None, 1, 3):
        assert rsa_key.decrypt_many(ciphertexts, label=b"label", threads=threads) == messages
    assert rsa_key.decrypt_many([]) == []
    older = [public.encrypt(message, padding="pkcs1v15") for message in messages]
    older[4] = bytes([older[4][0], older[4][1] ^ 1]) + older[4][2:]
    expected = [rsa_key.decrypt(ciphertext, padding="pkcs1v15") for ciphertext in older]
    assert rsa_key.decrypt_many(older, padding="pkcs1v15") == expected
    # Wrong ones have errors of their own, and no message of another's.
    ciphertexts[3] = ciphertexts[3][:-1]
    ciphertexts[11] = public.encrypt(b"secret", label=b"another")
    with pytest.raises(cycloid.DecryptionError) as raised:
        rsa_key.decrypt_many(ciphertexts, label=b"label")
    assert raised.value.index == 3
    found = rsa_key.decrypt_many(ciphertexts, label=b"label", return_exceptions=True)
    for i, (one, message) in enumerate(zip(found, messages)):
        if i in (3, 11):
            assert isinstance(one, cycloid.DecryptionError) and one.index == i
        else:
            assert one == message
    with pytest.raises(cycloid.ParameterError):
        rsa_key.decrypt_many(ciphertexts, threads=0)


def test_keys_go_both_ways(rsa_key, their_key):
    for again in (
        rsa.PrivateKey.from_der(rsa_key.to_der()),
        rsa.PrivateKey.from_pem(rsa_key.to_pem()),
        rsa.PrivateKey.from_der(private_der(theirs(rsa_key))),
    ):
        assert again.public_key == rsa_key.public_key and again.bits == 2048
    public = rsa_key.public_key
    for again in (
        rsa.PublicKey.from_der(public.to_der()),
        rsa.PublicKey.from_pem(public.to_pem()),
        rsa.PublicKey.from_numbers(public.n, public.e),
    ):
        assert again == public and hash(again) == hash(public)
    numbers = their_key.private_numbers()
    n, e = numbers.public_numbers.n, numbers.public_numbers.e
    ours = rsa.PrivateKey.from_numbers(n, e, numbers.d, numbers.p, numbers.q)
    assert (ours.public_key.n, ours.public_key.e) == (n, e)
    assert ours.public_key != rsa_key.public_key
    with pytest.raises(cycloid.InvalidKey):
        rsa.PrivateKey.from_numbers(n + 2, e, numbers.d, numbers.p, numbers.q)


def test_numbers_that_are_no_key(rsa_key):
    n = rsa_key.public_key.n
    for wrong in ((0, 65537), (n, 0), (n, 2), (n - 1, 65537), (n >> 1200, 65537), (-n, 65537)):
        with pytest.raises(ValueError) as raised:
            rsa.PublicKey.from_numbers(*wrong)
        assert isinstance(raised.value, cycloid.Error)
    for wrong in (None, 1.5, b"\1", "3"):
        with pytest.raises(TypeError):
            rsa.PublicKey.from_numbers(n, wrong)
    for wrong in (b"", b"\x30\x00", rsa_key.to_der()[:-1]):
        with pytest.raises(cycloid.InvalidKey):
            rsa.PrivateKey.from_der(wrong)


def test_private_numbers_that_are_no_key():
    for wrong in ((0, 0, 0, 0, 0), (1, 1, 1, 1, 1), (49, 3, 5, 7, 7), (15, 3, 3, 1, 15)):
        with pytest.raises(cycloid.InvalidKey):
            rsa.PrivateKey.from_numbers(*wrong)
    with pytest.raises(cycloid.ParameterError):
        rsa.PrivateKey.from_numbers(-15, 3, 3, 3, 5)
    for wrong in (None, 1.5, "7"):
        with pytest.raises(TypeError):
            rsa.PrivateKey.from_numbers(15, 3, 3, wrong, 5)
