"""Ed25519: signatures of RFC 8032."""

from collections.abc import Sequence
from typing import Literal, NoReturn, TypeAlias, final

from ._types import Bytes, Document, Many

__all__ = ["PrivateKey", "PublicKey", "sign_many", "verify_many"]

_Rule: TypeAlias = Literal["cofactorless", "strict", "cofactored"]

@final
class PrivateKey:
    @staticmethod
    def generate() -> PrivateKey: ...
    @staticmethod
    def from_bytes(data: Bytes) -> PrivateKey: ...
    @staticmethod
    def from_der(data: Bytes) -> PrivateKey: ...
    @staticmethod
    def from_pem(data: Document) -> PrivateKey: ...
    def to_bytes(self) -> bytes: ...
    def to_der(self) -> bytes: ...
    def to_pem(self) -> str: ...
    @property
    def public_key(self) -> PublicKey: ...
    def sign(
        self, message: Bytes, *, context: Bytes | None = None, prehashed: bool = False
    ) -> bytes: ...
    def sign_many(
        self,
        messages: Many,
        *,
        context: Bytes | None = None,
        prehashed: bool = False,
        threads: int | None = None,
    ) -> list[bytes]: ...
    def __reduce__(self) -> NoReturn: ...

@final
class PublicKey:
    @staticmethod
    def from_bytes(data: Bytes) -> PublicKey: ...
    @staticmethod
    def from_der(data: Bytes) -> PublicKey: ...
    @staticmethod
    def from_pem(data: Document) -> PublicKey: ...
    def to_bytes(self) -> bytes: ...
    def to_der(self) -> bytes: ...
    def to_pem(self) -> str: ...
    def verify(
        self,
        signature: Bytes,
        message: Bytes,
        *,
        rule: _Rule = "cofactorless",
        context: Bytes | None = None,
        prehashed: bool = False,
    ) -> None: ...
    def verify_many(
        self,
        signatures: Many,
        messages: Many,
        *,
        rule: _Rule = "cofactorless",
        context: Bytes | None = None,
        prehashed: bool = False,
        threads: int | None = None,
    ) -> list[bool]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def sign_many(
    keys: Sequence[PrivateKey],
    messages: Many,
    *,
    context: Bytes | None = None,
    prehashed: bool = False,
    threads: int | None = None,
) -> list[bytes]: ...
def verify_many(
    keys: Sequence[PublicKey],
    signatures: Many,
    messages: Many,
    *,
    rule: _Rule = "cofactorless",
    context: Bytes | None = None,
    prehashed: bool = False,
    threads: int | None = None,
) -> list[bool]: ...
