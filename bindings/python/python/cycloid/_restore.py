"""Makes public keys and BLS signatures again from what pickle keeps of them."""

from . import dh, ec, ed25519, rsa, x25519
from .bls import min_pk, min_sig


def dh_key(group, data):
    return dh.PublicKey.from_bytes(group, data)


def ec_key(data):
    return ec.PublicKey.from_der(data)


def ed25519_key(data):
    return ed25519.PublicKey.from_bytes(data)


def min_pk_key(data):
    return min_pk.PublicKey.from_bytes(data)


def min_pk_signature(data):
    return min_pk.Signature.from_bytes(data)


def min_sig_key(data):
    return min_sig.PublicKey.from_bytes(data)


def min_sig_signature(data):
    return min_sig.Signature.from_bytes(data)


def rsa_key(data):
    return rsa.PublicKey.from_der(data)


def x25519_key(data):
    return x25519.PublicKey.from_bytes(data)
