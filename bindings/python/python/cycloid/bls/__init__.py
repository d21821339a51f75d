"""BLS signatures on BLS12-381 (draft-irtf-cfrg-bls-signature).

`min_pk` has keys of 48 bytes and signatures of 96, as Ethereum; `min_sig` the reverse.
"""

from . import min_pk, min_sig

__all__ = ["min_pk", "min_sig"]
