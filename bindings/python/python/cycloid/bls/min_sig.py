"""BLS signatures of 48 bytes, with keys of 96."""

from .._cycloid import min_sig as _native

PrivateKey = _native.PrivateKey
PublicKey = _native.PublicKey
Signature = _native.Signature
aggregate_verify = _native.aggregate_verify
fast_aggregate_verify = _native.fast_aggregate_verify
recover_private_key = _native.recover_private_key
recover_public_key = _native.recover_public_key
recover_signature = _native.recover_signature
verify_many = _native.verify_many

__all__ = [
    "PrivateKey",
    "PublicKey",
    "Signature",
    "aggregate_verify",
    "fast_aggregate_verify",
    "recover_private_key",
    "recover_public_key",
    "recover_signature",
    "verify_many",
]
