"""A program for mypy: the lines that end in "wrong" have type errors, and no others."""

import cycloid
from cycloid import ec, ed25519, rsa, x25519
from cycloid.bls import min_pk

key = ec.PrivateKey.generate("P-384")
signature: bytes = key.sign(bytearray(b"message"), hash="sha256")
key.public_key.verify(memoryview(signature), b"message")
valid: list[bool] = key.public_key.verify_many([signature], (b"message",))
secrets: list[bytes] = key.agree_many([key.public_key])
mixed: list[bytes | cycloid.Error] = key.agree_many([key.public_key], return_exceptions=True)
n: int = rsa.PrivateKey.generate().public_key.n
loaded = cycloid.load_private_key("file", b"passphrase")
if isinstance(loaded, ed25519.PrivateKey):
    loaded.sign(b"message", context=b"here")
one: min_pk.Signature = min_pk.PrivateKey.generate().sign(b"message")

key.sign("text")  # wrong
key.sign(b"message", hash="md5")  # wrong
key.sign(b"message", encoding="pem")  # wrong
ec.PrivateKey.generate("P-999")  # wrong
x25519.PrivateKey.generate().agree(key.public_key)  # wrong
rsa.PrivateKey.generate().sign(b"message", salt_length="any")  # wrong
secrets = key.agree_many([key.public_key], return_exceptions=True)  # wrong
key.public_key.sign(b"message")  # wrong
