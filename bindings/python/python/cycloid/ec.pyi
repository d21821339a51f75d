"""ECDSA and ECDH on P-224, P-256, P-384 and P-521."""

from collections.abc import Sequence
from typing import Literal, NoReturn, TypeAlias, final, overload

from ._errors import Error
from ._types import Bytes, Document, Hash, Many

__all__ = ["PrivateKey", "PublicKey", "agree_many", "sign_many", "verify_many"]

_Curve: TypeAlias = Literal["P-224", "P-256", "P-384", "P-521"]
_Encoding: TypeAlias = Literal["der", "raw"]

@final
class PrivateKey:
    @staticmethod
    def generate(curve: _Curve = "P-256") -> PrivateKey: ...
    @staticmethod
    def from_bytes(curve: _Curve, data: Bytes) -> PrivateKey: ...
    @staticmethod
    def from_der(data: Bytes) -> PrivateKey: ...
    @staticmethod
    def from_pem(data: Document) -> PrivateKey: ...
    def to_bytes(self) -> bytes: ...
    def to_der(self) -> bytes: ...
    def to_pem(self) -> str: ...
    @property
    def curve(self) -> _Curve: ...
    @property
    def public_key(self) -> PublicKey: ...
    def sign(
        self,
        message: Bytes,
        *,
        hash: Hash | None = None,
        encoding: _Encoding = "der",
        prehashed: bool = False,
        hedged: bool = False,
    ) -> bytes: ...
    def sign_many(
        self,
        messages: Many,
        *,
        hash: Hash | None = None,
        encoding: _Encoding = "der",
        prehashed: bool = False,
        threads: int | None = None,
    ) -> list[bytes]: ...
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
    def from_bytes(curve: _Curve, data: Bytes) -> PublicKey: ...
    @staticmethod
    def from_der(data: Bytes) -> PublicKey: ...
    @staticmethod
    def from_pem(data: Document) -> PublicKey: ...
    def to_bytes(self, *, compressed: bool = False) -> bytes: ...
    def to_der(self) -> bytes: ...
    def to_pem(self) -> str: ...
    @property
    def curve(self) -> _Curve: ...
    def prepare(self) -> None: ...
    def verify(
        self,
        signature: Bytes,
        message: Bytes,
        *,
        hash: Hash | None = None,
        encoding: _Encoding = "der",
        prehashed: bool = False,
    ) -> None: ...
    def verify_many(
        self,
        signatures: Many,
        messages: Many,
        *,
        hash: Hash | None = None,
        encoding: _Encoding = "der",
        prehashed: bool = False,
        threads: int | None = None,
    ) -> list[bool]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def sign_many(
    keys: Sequence[PrivateKey],
    messages: Many,
    *,
    hash: Hash | None = None,
    encoding: _Encoding = "der",
    prehashed: bool = False,
    threads: int | None = None,
) -> list[bytes]: ...
def verify_many(
    keys: Sequence[PublicKey],
    signatures: Many,
    messages: Many,
    *,
    hash: Hash | None = None,
    encoding: _Encoding = "der",
    prehashed: bool = False,
    threads: int | None = None,
) -> list[bool]: ...
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
