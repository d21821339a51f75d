"""X25519: key agreement of RFC 7748."""

from ._cycloid import x25519 as _native

PrivateKey = _native.PrivateKey
PublicKey = _native.PublicKey
agree_many = _native.agree_many

__all__ = ["PrivateKey", "PublicKey", "agree_many"]
