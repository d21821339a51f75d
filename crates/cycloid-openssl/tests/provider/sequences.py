"""Sequences of calls to libcrypto, and what each returns.

usage: sequences.py NAME, in a directory with rsa.pem, ec.pem, peer.pem and x25519.pem
"""

import ctypes
import hashlib
import sys

crypto = ctypes.CDLL("libcrypto.so.3")
for name in (
    "BIO_new_file PEM_read_bio_PrivateKey EVP_PKEY_CTX_new EVP_PKEY_CTX_dup EVP_MD_CTX_new "
    "EVP_sha256 EVP_MD_CTX_get_pkey_ctx"
).split():
    getattr(crypto, name).restype = ctypes.c_void_p

PKCS1, OAEP, PSS = 1, 4, 6


class Pointer(ctypes.c_void_p):
    """An address, passed as such."""


def load(name):
    file = Pointer(crypto.BIO_new_file(name.encode(), b"r"))
    return Pointer(crypto.PEM_read_bio_PrivateKey(file, None, None, None))


def context(key):
    return Pointer(crypto.EVP_PKEY_CTX_new(key, None))


def set_text(context, name, value):
    return crypto.EVP_PKEY_CTX_ctrl_str(context, name.encode(), value.encode()) > 0


def output(call, room=1024):
    """Calls a function with room for its output, and returns the output or nothing."""
    place, length = ctypes.create_string_buffer(room), ctypes.c_size_t(room)
    if call(place, ctypes.byref(length)) <= 0:
        return None
    return place.raw[: length.value]


def sign_init(key):
    """Begins to sign a message by SHA-256, and returns both contexts."""
    digest, inner = Pointer(crypto.EVP_MD_CTX_new()), Pointer()
    sha256 = Pointer(crypto.EVP_sha256())
    assert crypto.EVP_DigestSignInit(digest, ctypes.byref(inner), sha256, None, key) == 1
    return digest, inner


def update(digest, part):
    return crypto.EVP_DigestUpdate(digest, part, ctypes.c_size_t(len(part)))


def finish(digest):
    return output(lambda place, length: crypto.EVP_DigestSignFinal(digest, place, length))


def is_valid(key, message, signature, *settings):
    """Returns whether a signature is one of the message by SHA-256."""
    inner, message = context(key), hashlib.sha256(message).digest()
    assert crypto.EVP_PKEY_verify_init(inner) == 1
    for name, value in (("digest", "SHA256"), *settings):
        assert set_text(inner, name, value)
    length = ctypes.c_size_t(len(signature))
    return crypto.EVP_PKEY_verify(inner, signature, length, message, ctypes.c_size_t(32)) == 1


def another_digest():
    """A digest that is set while a message is being signed."""
    for key in (load("rsa.pem"), load("ec.pem")):
        for other in ("SHA512", "SHA512-256", "SHA3-256", "MD5", "nonsense"):
            for parts in ((b"", b"message"), (b"mess", b"age")):
                digest, inner = sign_init(key)
                update(digest, parts[0])
                print(other, "is set:", set_text(inner, "digest", other))
                update(digest, parts[1])
                print("valid:", is_valid(key, b"message", finish(digest)))


def setting_in_the_middle():
    """A padding that the default provider has, set when a part of the message is hashed."""
    key = load("rsa.pem")
    digest, inner = sign_init(key)
    update(digest, b"mess")
    print("set:", set_text(inner, "rsa_padding_mode", "x931"))
    update(digest, b"age")
    print("valid:", is_valid(key, b"message", finish(digest), ("rsa_padding_mode", "x931")))
    print("digest:", set_text(inner, "digest", "SHA512"))


def refused_settings():
    """Operations after settings that are refused."""
    digest = hashlib.sha256(b"message").digest()
    for key in (load("rsa.pem"), load("ec.pem")):
        signing = context(key)
        crypto.EVP_PKEY_sign_init(signing)
        print("digests:", [set_text(signing, "digest", name) for name in ("SHA256", "nonsense")])
        for length in (32, 31):
            data = (digest[:length], ctypes.c_size_t(length))
            signature = output(lambda *it: crypto.EVP_PKEY_sign(signing, *it, *data))
            print("a digest of", length, "is signed:", signature is not None)
    sealing = context(load("rsa.pem"))
    crypto.EVP_PKEY_encrypt_init(sealing)
    for name, value in (
        ("rsa_padding_mode", "oaep"),
        ("rsa_oaep_md", "nonsense"),
        ("rsa_oaep_md", "SHA256"),
        ("rsa_mgf1_md", "nonsense"),
    ):
        print(name, value, "is set:", set_text(sealing, name, value))
        data = (b"text", ctypes.c_size_t(4))
        sealed = output(lambda *it: crypto.EVP_PKEY_encrypt(sealing, *it, *data))
        print("encrypts:", sealed is not None)
    agreeing = context(load("ec.pem"))
    crypto.EVP_PKEY_derive_init(agreeing)
    crypto.EVP_PKEY_derive_set_peer(agreeing, load("peer.pem"))
    for value in ("7", "1"):
        print("cofactor mode", value, "is set:", set_text(agreeing, "ecdh_cofactor_mode", value))
        secret = output(lambda *it: crypto.EVP_PKEY_derive(agreeing, *it))
        print("agrees:", secret and secret.hex())


def paddings_in_turn():
    """PSS with a salt, then PKCS #1, then PSS again."""
    key, digest = load("rsa.pem"), hashlib.sha256(b"message").digest()
    signing = context(key)
    crypto.EVP_PKEY_sign_init(signing)
    mask = "SHA256"
    for name, value in (
        ("digest", "SHA256"),
        ("rsa_pss_saltlen", "20"),
        ("rsa_padding_mode", "pss"),
        ("rsa_pss_saltlen", "20"),
        ("rsa_mgf1_md", "SHA512"),
        ("rsa_padding_mode", "pkcs1"),
        ("rsa_pss_saltlen", "20"),
        ("rsa_padding_mode", "pss"),
    ):
        print(name, value, "is set:", set_text(signing, name, value))
        for copy in (signing, Pointer(crypto.EVP_PKEY_CTX_dup(signing))):
            padding = ctypes.c_int()
            crypto.EVP_PKEY_CTX_get_rsa_padding(copy, ctypes.byref(padding))
            data = (digest, ctypes.c_size_t(32))
            signature = output(lambda *it: crypto.EVP_PKEY_sign(copy, *it, *data))
            settings = [("rsa_padding_mode", {PKCS1: "pkcs1", PSS: "pss"}[padding.value])]
            if padding.value == PSS:
                mask = value if name == "rsa_mgf1_md" else mask
                settings.append(("rsa_mgf1_md", mask))
            print(settings, "valid:", is_valid(key, b"message", signature, *settings))


def many_settings():
    """More settings than the provider remembers, in the middle of a message and of encryption."""
    key = load("rsa.pem")
    digest, inner = sign_init(key)
    update(digest, b"mess")
    sealing = context(key)
    crypto.EVP_PKEY_encrypt_init(sealing)
    paddings = ((inner, "pss"), (sealing, "oaep"))
    settings = [set_text(it, "rsa_padding_mode", name) for it, name in paddings]
    for i in range(101):
        settings.append(set_text(inner, "rsa_pss_saltlen", str(i)))
        settings.append(set_text(inner, "rsa_mgf1_md", ("SHA256", "SHA512")[i % 2]))
        settings.append(set_text(sealing, "rsa_oaep_md", ("SHA256", "SHA512")[i % 2]))
        settings.append(set_text(sealing, "rsa_mgf1_md", ("SHA256", "SHA1")[i % 2]))
    update(digest, b"age")
    pss = (("rsa_padding_mode", "pss"), ("rsa_pss_saltlen", "100"))
    print("set:", all(settings), "valid:", is_valid(key, b"message", finish(digest), *pss))
    data = (b"text", ctypes.c_size_t(4))
    sealed = output(lambda *it: crypto.EVP_PKEY_encrypt(sealing, *it, *data))
    print("encrypts:", sealed is not None)


def label():
    """The label of OAEP, whose address a program keeps."""
    sealing = context(load("rsa.pem"))
    crypto.EVP_PKEY_encrypt_init(sealing)
    set_text(sealing, "rsa_padding_mode", "oaep")
    for value in (b"", b"one label", b"another of these labels, and longer"):
        if value:
            print("set:", set_text(sealing, "rsa_oaep_label", value.hex()))
        place = ctypes.c_void_p()
        length = crypto.EVP_PKEY_CTX_get0_rsa_oaep_label(sealing, ctypes.byref(place))
        # Memory that was freed by now is used again.
        others = [crypto.EVP_PKEY_CTX_dup(sealing) for _ in range(8)]
        for other in others:
            set_text(Pointer(other), "rsa_oaep_label", b"x".hex() * len(value) or "00")
        print(length, ctypes.string_at(place.value, length) if length > 0 else b"")
        data = (b"text", ctypes.c_size_t(4))
        sealed = output(lambda *it: crypto.EVP_PKEY_encrypt(sealing, *it, *data))
        print("encrypts:", sealed is not None)


def short_outputs():
    """Secrets for which there is too little room."""
    for own, peer in (("ec.pem", "peer.pem"), ("x25519.pem", "x25519.pem")):
        agreeing = context(load(own))
        crypto.EVP_PKEY_derive_init(agreeing)
        crypto.EVP_PKEY_derive_set_peer(agreeing, load(peer))
        for room in (32, 31, 16, 1, 33):
            secret = output(lambda *it: crypto.EVP_PKEY_derive(agreeing, *it), room)
            print(own, room, secret and secret.hex())


def wrong_signatures():
    """What verification answers for signatures that are wrong or no signatures at all."""
    key, digest = load("ec.pem"), hashlib.sha256(b"message").digest()
    order = 2**256 - 2**224 + 2**192 - 0x4319055258E8617B0C46353D039CDAAF
    signing, data = context(key), (digest, ctypes.c_size_t(32))
    crypto.EVP_PKEY_sign_init(signing)
    right = output(lambda *it: crypto.EVP_PKEY_sign(signing, *it, *data))

    def integer(value):
        value = value.to_bytes(value.bit_length() // 8 + 1, "big")
        return bytes([2, len(value)]) + value

    def sequence(contents):
        return bytes([0x30, len(contents)]) + contents

    changed = bytearray(right)
    changed[-1] ^= 1
    signatures = (
        right,
        bytes(changed),
        b"",
        b"zzzz",
        right[:-1],
        right + b"\0",
        bytes([0x30, 0x81, len(right) - 2]) + right[2:],
        sequence(integer(1)),
        sequence(integer(1) + integer(1)),
        sequence(integer(0) + integer(1)),
        sequence(integer(1) + integer(order)),
        sequence(integer(1) + bytes([2, 1, 0xFF])),
        sequence(integer(1) + bytes([2, 2, 0, 1])),
    )
    for signature in signatures:
        verifying = context(key)
        crypto.EVP_PKEY_verify_init(verifying)
        length = ctypes.c_size_t(len(signature))
        print(crypto.EVP_PKEY_verify(verifying, signature, length, *data))


def impossible_inputs():
    """Addresses and lengths that name no memory."""
    for key in (load("rsa.pem"), load("ec.pem")):
        for data, length in ((None, 5), (b"bytes", 2**64 - 1), (None, 2**64 - 1)):
            digest, _ = sign_init(key)
            print(crypto.EVP_DigestUpdate(digest, data, ctypes.c_size_t(length)))
            signing = context(key)
            crypto.EVP_PKEY_sign_init(signing)
            data = (data, ctypes.c_size_t(length))
            print(output(lambda *it: crypto.EVP_PKEY_sign(signing, *it, *data)))
    sealing = context(load("rsa.pem"))
    crypto.EVP_PKEY_encrypt_init(sealing)
    data = (None, ctypes.c_size_t(5))
    print(output(lambda *it: crypto.EVP_PKEY_encrypt(sealing, *it, *data)))


globals()[sys.argv[1]]()
