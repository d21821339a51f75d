"""ECDSA and ECDH on P-224, P-256, P-384 and P-521."""

from ._cycloid import ec as _native

PrivateKey = _native.PrivateKey
PublicKey = _native.PublicKey
agree_many = _native.agree_many
sign_many = _native.sign_many
verify_many = _native.verify_many

__all__ = ["PrivateKey", "PublicKey", "agree_many", "sign_many", "verify_many"]
