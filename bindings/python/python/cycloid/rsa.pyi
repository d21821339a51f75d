"""RSA: signatures and encryption of RFC 8017."""

from collections.abc import Sequence
from typing import Literal, NoReturn, TypeAlias, final, overload

from ._errors import Error
from ._types import Bytes, Document, Hash, Many

__all__ = ["PrivateKey", "PublicKey", "sign_many", "verify_many"]

_Padding: TypeAlias = Literal["pss", "pkcs1v15"]
_Salt: TypeAlias = int | Literal["any"]

@final
class PrivateKey:
    @staticmethod
    def generate(bits: int = 3072) -> PrivateKey: ...
    @staticmethod
    def from_der(data: Bytes) -> PrivateKey: ...
    @staticmethod
    def from_pem(data: Document) -> PrivateKey: ...
    def to_der(self) -> bytes: ...
    def to_pem(self) -> str: ...
    @property
    def public_key(self) -> PublicKey: ...
    @staticmethod
    def from_numbers(n: int, e: int, d: int, p: int, q: int) -> PrivateKey: ...
    @property
    def bits(self) -> int: ...
    def sign(
        self,
        message: Bytes,
        *,
        padding: _Padding = "pss",
        hash: Hash | None = "sha256",
        prehashed: bool = False,
        salt_length: int | None = None,
    ) -> bytes: ...
    def sign_many(
        self,
        messages: Many,
        *,
        padding: _Padding = "pss",
        hash: Hash | None = "sha256",
        prehashed: bool = False,
        salt_length: int | None = None,
        threads: int | None = None,
    ) -> list[bytes]: ...
    def decrypt(
        self,
        ciphertext: Bytes,
        *,
        padding: Literal["oaep", "pkcs1v15"] = "oaep",
        hash: Hash | None = "sha256",
        mask_hash: Hash | None = None,
        label: Bytes | None = None,
    ) -> bytes: ...
    @overload
    def decrypt_many(
        self,
        ciphertexts: Many,
        *,
        padding: Literal["oaep", "pkcs1v15"] = "oaep",
        hash: Hash | None = "sha256",
        mask_hash: Hash | None = None,
        label: Bytes | None = None,
        threads: int | None = None,
        return_exceptions: Literal[False] = False,
    ) -> list[bytes]: ...
    @overload
    def decrypt_many(
        self,
        ciphertexts: Many,
        *,
        padding: Literal["oaep", "pkcs1v15"] = "oaep",
        hash: Hash | None = "sha256",
        mask_hash: Hash | None = None,
        label: Bytes | None = None,
        threads: int | None = None,
        return_exceptions: bool,
    ) -> list[bytes | Error]: ...
    def __reduce__(self) -> NoReturn: ...

@final
class PublicKey:
    @staticmethod
    def from_der(data: Bytes) -> PublicKey: ...
    @staticmethod
    def from_pem(data: Document) -> PublicKey: ...
    def to_der(self) -> bytes: ...
    def to_pem(self) -> str: ...
    @staticmethod
    def from_numbers(n: int, e: int) -> PublicKey: ...
    @property
    def bits(self) -> int: ...
    @property
    def n(self) -> int: ...
    @property
    def e(self) -> int: ...
    def verify(
        self,
        signature: Bytes,
        message: Bytes,
        *,
        padding: _Padding = "pss",
        hash: Hash | None = "sha256",
        prehashed: bool = False,
        salt_length: _Salt | None = None,
    ) -> None: ...
    def verify_many(
        self,
        signatures: Many,
        messages: Many,
        *,
        padding: _Padding = "pss",
        hash: Hash | None = "sha256",
        prehashed: bool = False,
        salt_length: _Salt | None = None,
        threads: int | None = None,
    ) -> list[bool]: ...
    def encrypt(
        self,
        message: Bytes,
        *,
        padding: Literal["oaep", "pkcs1v15"] = "oaep",
        hash: Hash | None = "sha256",
        mask_hash: Hash | None = None,
        label: Bytes | None = None,
    ) -> bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def sign_many(
    keys: Sequence[PrivateKey],
    messages: Many,
    *,
    padding: _Padding = "pss",
    hash: Hash | None = "sha256",
    prehashed: bool = False,
    salt_length: int | None = None,
    threads: int | None = None,
) -> list[bytes]: ...
def verify_many(
    keys: Sequence[PublicKey],
    signatures: Many,
    messages: Many,
    *,
    padding: _Padding = "pss",
    hash: Hash | None = "sha256",
    prehashed: bool = False,
    salt_length: _Salt | None = None,
    threads: int | None = None,
) -> list[bool]: ...
