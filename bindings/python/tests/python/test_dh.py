"""Finite-field Diffie-Hellman, with `cryptography` on the other side."""

import cycloid
import pytest
from cryptography.hazmat.primitives.asymmetric import dh as other
from cryptography.hazmat.primitives import serialization
from cycloid import dh

# `cryptography` means to remove it.
pytestmark = pytest.mark.filterwarnings("ignore:Diffie-Hellman over finite fields")

# RFC 3526, section 3.
MODP2048 = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74"
    "020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B302B0A6DF25F1437"
    "4FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF05"
    "98DA48361C55D39A69163FA8FD24CF5F83655D23DCA3AD961C62F356208552BB"
    "9ED529077096966D670C354E4ABC9804F1746C08CA18217C32905E462E36CE3B"
    "E39E772C180E86039B2783A2EC07A28FB5C55DF06F4C52C9DE2BCBF695581718"
    "3995497CEA956AE515D2261898FA051015728E5A8AACAA68FFFFFFFFFFFFFFFF",
    16,
)


def test_agreement_goes_both_ways():
    numbers = other.DHParameterNumbers(MODP2048, 2)
    key = dh.PrivateKey.generate("modp2048")
    their_key = numbers.parameters().generate_private_key()
    value = their_key.public_key().public_numbers().y
    peer = dh.PublicKey.from_bytes("modp2048", value.to_bytes(256, "big"))
    ours = other.DHPublicNumbers(int.from_bytes(key.public_key.to_bytes(), "big"), numbers)
    # Theirs is without leading zeros before version 46, ours as long as the prime.
    assert key.agree(peer) == their_key.exchange(ours.public_key()).rjust(256, b"\0")


def test_their_files():
    numbers = other.DHParameterNumbers(MODP2048, 2)
    their_key = numbers.parameters().generate_private_key()
    pem = their_key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    key = cycloid.load_private_key(pem)
    assert key.group == "modp2048"
    value = int.from_bytes(key.public_key.to_bytes(), "big")
    assert value == their_key.public_key().public_numbers().y


@pytest.mark.parametrize("group", ["ffdhe2048", "ffdhe3072"])
def test_groups(group):
    key, peer = dh.PrivateKey.generate(group), dh.PrivateKey.generate(group)
    assert key.group == peer.public_key.group == group
    assert key.agree(peer.public_key) == peer.agree(key.public_key)
    again = dh.PublicKey.from_bytes(group, b"\0" + key.public_key.to_bytes())
    assert again == key.public_key and hash(again) == hash(key.public_key)


def test_values_that_are_refused():
    key = dh.PrivateKey.generate("ffdhe2048")
    length = len(key.public_key.to_bytes())
    for value in (b"", bytes(length), bytes(length - 1) + b"\1", b"\xff" * length):
        with pytest.raises(cycloid.AgreementError):
            key.agree(dh.PublicKey.from_bytes("ffdhe2048", value))
    with pytest.raises(cycloid.AgreementError):
        dh.PublicKey.from_bytes("ffdhe2048", b"\1" * (length + 1))
    with pytest.raises(cycloid.ParameterError):
        key.agree(dh.PrivateKey.generate("modp2048").public_key)
    with pytest.raises(cycloid.ParameterError):
        dh.PrivateKey.generate("modp1024")
    for exponent in (b"", b"\0", b"\xff" * 257):
        with pytest.raises(cycloid.InvalidKey):
            dh.PrivateKey.from_bytes("ffdhe2048", exponent)
    key = dh.PrivateKey.from_bytes("modp2048", b"\7" * 32)
    assert int.from_bytes(key.public_key.to_bytes(), "big") == pow(
        2, int.from_bytes(b"\7" * 32, "big"), MODP2048
    )
