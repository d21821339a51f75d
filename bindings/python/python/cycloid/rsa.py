"""RSA: signatures and encryption of RFC 8017."""

from ._cycloid import rsa as _native

PrivateKey = _native.PrivateKey
PublicKey = _native.PublicKey
sign_many = _native.sign_many
verify_many = _native.verify_many

__all__ = ["PrivateKey", "PublicKey", "sign_many", "verify_many"]
