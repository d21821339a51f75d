"""Constant-time cryptography: RSA, Diffie-Hellman, elliptic curves and BLS12-381.

Each module has the classes `PrivateKey` and `PublicKey` for one kind of key, and batches of
operations, `*_many`, which run eight side by side and on all processors:

- `cycloid.rsa`, `cycloid.dh`
- `cycloid.ec`: P-224, P-256, P-384 and P-521
- `cycloid.ed25519`, `cycloid.x25519`
- `cycloid.bls.min_pk`, `cycloid.bls.min_sig`

Operations release the interpreter's lock. They take any bytes-like object: `bytes` are read in
place, other buffers are copied first. Private keys are wiped when they are no longer used; they are
neither copied nor pickled.
"""

from . import bls, dh, ec, ed25519, rsa, x25519
from ._cycloid import VERSION as __version__
from ._cycloid import cpu_level, load_private_key, load_public_key
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
