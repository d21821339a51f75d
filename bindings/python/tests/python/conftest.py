"""Keys and values that the tests share, and `cryptography` as the other side."""

import pytest
from cryptography.hazmat.primitives import hashes, serialization

# The names of hashlib, and what `cryptography` calls them.
HASHES = {
    "sha224": hashes.SHA224,
    "sha256": hashes.SHA256,
    "sha384": hashes.SHA384,
    "sha512": hashes.SHA512,
    "sha3_256": hashes.SHA3_256,
    "sha3_512": hashes.SHA3_512,
}


def private_der(key):
    """Returns a key of `cryptography` as PKCS #8."""
    return key.private_bytes(
        serialization.Encoding.DER,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def public_der(key):
    """Returns a key of `cryptography` as SubjectPublicKeyInfo."""
    return key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def theirs(key):
    """Returns a private key of Cycloid's as one of `cryptography`."""
    return serialization.load_pem_private_key(key.to_pem().encode(), None)


def theirs_public(key):
    """Returns a public key of Cycloid's as one of `cryptography`."""
    return serialization.load_pem_public_key(key.to_pem().encode())


@pytest.fixture(scope="session")
def rsa_key():
    from cycloid import rsa

    return rsa.PrivateKey.generate(2048)
