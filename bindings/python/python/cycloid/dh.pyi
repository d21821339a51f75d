"""Finite-field Diffie-Hellman in the groups of RFC 7919 and RFC 3526."""

from collections.abc import Sequence
from typing import Literal, NoReturn, TypeAlias, final, overload

from ._errors import Error
from ._types import Bytes

__all__ = ["PrivateKey", "PublicKey"]

_Group: TypeAlias = Literal[
    "ffdhe2048",
    "ffdhe3072",
    "ffdhe4096",
    "ffdhe6144",
    "ffdhe8192",
    "modp2048",
    "modp3072",
    "modp4096",
    "modp6144",
    "modp8192",
]

@final
class PrivateKey:
    @staticmethod
    def generate(group: _Group) -> PrivateKey: ...
    @staticmethod
    def from_bytes(group: _Group, data: Bytes) -> PrivateKey: ...
    @property
    def public_key(self) -> PublicKey: ...
    @property
    def group(self) -> _Group: ...
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
    def from_bytes(group: _Group, data: Bytes) -> PublicKey: ...
    def to_bytes(self) -> bytes: ...
    @property
    def group(self) -> _Group: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
