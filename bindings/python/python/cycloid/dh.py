"""Finite-field Diffie-Hellman in the groups of RFC 7919 and RFC 3526."""

from ._cycloid import dh as _native

PrivateKey = _native.PrivateKey
PublicKey = _native.PublicKey

__all__ = ["PrivateKey", "PublicKey"]
