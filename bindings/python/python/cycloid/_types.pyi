"""Types that several modules share. For type checkers: it is not there at run time."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from typing_extensions import Buffer

# Any bytes-like object.
Bytes: TypeAlias = Buffer

# A list of bytes-like objects, or a buffer with two dimensions, each row of which is an element.
Many: TypeAlias = Iterable[Buffer] | Buffer

# The text of a file, or its bytes.
Document: TypeAlias = str | Buffer

# The names of `hashlib`.
Hash: TypeAlias = Literal[
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "sha512_224",
    "sha512_256",
    "sha3_224",
    "sha3_256",
    "sha3_384",
    "sha3_512",
    "shake_128",
    "shake_256",
]
