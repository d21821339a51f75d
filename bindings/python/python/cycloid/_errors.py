"""The exceptions of the package.

An exception of a batch, as `agree_many` raises it, has its place in the list as `index`.
"""


class Error(Exception):
    """The base of all exceptions of the package."""

    index: int


class InvalidSignature(Error):
    """The signature is not valid for this message, this key and these parameters."""


class DecryptionError(Error):
    """The ciphertext is not valid for this key and these parameters. It does not say why."""


class AgreementError(Error):
    """The peer's public key is refused: it is not in the group, or the secret would be known."""


class ParameterError(Error, ValueError):
    """An argument has a wrong length or value, or does not fit another argument."""


class InvalidKey(Error, ValueError):
    """The bytes are not a key, or not one that is safe to use."""


class UnsupportedKey(InvalidKey):
    """The key is of a kind or in a format that the package does not have."""


class PassphraseError(InvalidKey):
    """The key is encrypted: the passphrase is missing or wrong."""


class InternalError(Error):
    """A result failed its check, which is a fault of the machine; or the random generator fails.

    Nothing is released.
    """


# Users see them where they import them from.
for _class in (
    Error,
    InvalidSignature,
    DecryptionError,
    AgreementError,
    ParameterError,
    InvalidKey,
    UnsupportedKey,
    PassphraseError,
    InternalError,
):
    _class.__module__ = "cycloid"
del _class
