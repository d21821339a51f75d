"""X25519: key agreement of RFC 7748."""

from collections.abc import Sequence
from typing import Literal, NoReturn, final, overload

from ._errors import Error
from ._types import Bytes, Document

__all__ = ["PrivateKey", "PublicKey", "agree_many"]

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
    def agree(self, peer: PublicKey) -> bytes: ...
    @overload
    def agree_many(
        self,
        peers: Sequence[PublicKey],
        *,
        threads: int | None = None,
        return_exceptions: Literal[False] = False,
    ) -> list[bytes]: ...
    @overload
    def agree_many(
        self,
        peers: Sequence[PublicKey],
        *,
        threads: int | None = None,
        return_exceptions: bool,
    ) -> list[bytes | Error]: ...
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
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@overload
def agree_many(
    keys: Sequence[PrivateKey],
    peers: Sequence[PublicKey],
    *,
    threads: int | None = None,
    return_exceptions: Literal[False] = False,
) -> list[bytes]: ...
@overload
def agree_many(
    keys: Sequence[PrivateKey],
    peers: Sequence[PublicKey],
    *,
    threads: int | None = None,
    return_exceptions: bool,
) -> list[bytes | Error]: ...
