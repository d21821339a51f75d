"""Constant-time cryptography: RSA, Diffie-Hellman, elliptic curves and BLS12-381."""

from . import bls, dh, ec, ed25519, rsa, x25519
from ._errors import (
    AgreementError,
    DecryptionError,
    Error,
    InternalError,
    InvalidKey,
    InvalidSignature,
    ParameterError,
    PassphraseError,
    UnsupportedKey,
)
from ._types import Document

__all__ = [
    "AgreementError",
    "DecryptionError",
    "Error",
    "InternalError",
    "InvalidKey",
    "InvalidSignature",
    "ParameterError",
    "PassphraseError",
    "UnsupportedKey",
    "__version__",
    "bls",
    "cpu_level",
    "dh",
    "ec",
    "ed25519",
    "load_private_key",
    "load_public_key",
    "rsa",
    "x25519",
]

__version__: str

def cpu_level() -> str: ...
def load_private_key(
    data: Document, passphrase: Document | None = None
) -> rsa.PrivateKey | ec.PrivateKey | ed25519.PrivateKey | x25519.PrivateKey | dh.PrivateKey: ...
def load_public_key(
    data: Document,
) -> rsa.PublicKey | ec.PublicKey | ed25519.PublicKey | x25519.PublicKey | dh.PublicKey: ...
