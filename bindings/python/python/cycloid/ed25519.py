"""Ed25519: signatures of RFC 8032."""

from ._cycloid import ed25519 as _native

PrivateKey = _native.PrivateKey
PublicKey = _native.PublicKey
sign_many = _native.sign_many
verify_many = _native.verify_many

__all__ = ["PrivateKey", "PublicKey", "sign_many", "verify_many"]
