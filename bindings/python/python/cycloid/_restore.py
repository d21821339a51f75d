"""Makes public keys and BLS signatures again from what pickle keeps of them."""

from . import _cycloid


def ec(data):
    return _cycloid.ec.PublicKey.from_der(data)


def ed25519(data):
    return _cycloid.ed25519.PublicKey.from_bytes(data)


def x25519(data):
    return _cycloid.x25519.PublicKey.from_bytes(data)


def rsa(data):
    return _cycloid.rsa.PublicKey.from_der(data)


def dh(group, data):
    return _cycloid.dh.PublicKey.from_bytes(group, data)


def min_pk_key(data):
    return _cycloid.min_pk.PublicKey.from_bytes(data)


def min_pk_signature(data):
    return _cycloid.min_pk.Signature.from_bytes(data)


def min_sig_key(data):
    return _cycloid.min_sig.PublicKey.from_bytes(data)


def min_sig_signature(data):
    return _cycloid.min_sig.Signature.from_bytes(data)
