"""Key files of all kinds, as `cryptography` writes them."""

import datetime

import cycloid
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ed448
from cryptography.hazmat.primitives.asymmetric import ec as their_ec
from cryptography.hazmat.primitives.asymmetric import ed25519 as their_ed25519
from cryptography.hazmat.primitives.asymmetric import rsa as their_rsa
from cryptography.hazmat.primitives.asymmetric import x25519 as their_x25519
from cycloid import ec, ed25519, rsa, x25519

PEM, DER = serialization.Encoding.PEM, serialization.Encoding.DER
SPKI = serialization.PublicFormat.SubjectPublicKeyInfo

KINDS = {
    "rsa": (rsa, lambda: their_rsa.generate_private_key(65537, 2048)),
    "ec": (ec, lambda: their_ec.generate_private_key(their_ec.SECP384R1())),
    "ed25519": (ed25519, their_ed25519.Ed25519PrivateKey.generate),
    "x25519": (x25519, their_x25519.X25519PrivateKey.generate),
}


@pytest.fixture(params=KINDS, scope="module")
def kind(request):
    module, generate = KINDS[request.param]
    return request.param, module, generate()


def formats(name):
    yield serialization.PrivateFormat.PKCS8
    if name in ("rsa", "ec"):
        yield serialization.PrivateFormat.TraditionalOpenSSL
    if name != "x25519":
        yield serialization.PrivateFormat.OpenSSH


def test_private_keys(kind):
    name, module, key = kind
    public = key.public_key().public_bytes(DER, SPKI)
    for style in formats(name):
        for passphrase in (None, b"open sesame"):
            if passphrase is None:
                protection = serialization.NoEncryption()
            else:
                protection = serialization.BestAvailableEncryption(passphrase)
            file = key.private_bytes(PEM, style, protection)
            for data in (file, file.decode(), bytearray(file)):
                found = cycloid.load_private_key(data, passphrase)
                assert type(found) is module.PrivateKey
                assert found.public_key.to_der() == public
            if passphrase is not None:
                assert cycloid.load_private_key(file, passphrase.decode()).public_key
                for wrong in (None, b"open barley", b""):
                    with pytest.raises(cycloid.PassphraseError):
                        cycloid.load_private_key(file, wrong)
    file = key.private_bytes(
        DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    assert cycloid.load_private_key(file).public_key.to_der() == public
    with pytest.raises(cycloid.InvalidKey):
        cycloid.load_private_key(key.public_key().public_bytes(PEM, SPKI))


def test_public_keys(kind):
    name, module, key = kind
    public = key.public_key()
    spki = public.public_bytes(DER, SPKI)
    files = [spki, public.public_bytes(PEM, SPKI)]
    if name == "rsa":
        files.append(public.public_bytes(PEM, serialization.PublicFormat.PKCS1))
    if name != "x25519":
        openssh = serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        files += [public.public_bytes(*openssh), certificate(key).public_bytes(PEM)]
    for file in files:
        found = cycloid.load_public_key(file)
        assert type(found) is module.PublicKey and found.to_der() == spki


def certificate(key):
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now)
    hash = None if isinstance(key, their_ed25519.Ed25519PrivateKey) else hashes.SHA256()
    return builder.sign(key, hash)


def test_json_web_keys():
    # RFC 8037, appendix A.1.
    file = (
        '{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",'
        '"x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}'
    )
    key = cycloid.load_private_key(file)
    assert key.public_key.to_bytes()[:4].hex() == "d75a9801"


def test_files_of_other_kinds():
    none = serialization.NoEncryption()
    for key in (
        ed448.Ed448PrivateKey.generate(),
        dsa.generate_private_key(2048),
        their_ec.generate_private_key(their_ec.SECP256K1()),
    ):
        file = key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, none)
        with pytest.raises(cycloid.InvalidKey):
            cycloid.load_private_key(file)
        with pytest.raises(cycloid.InvalidKey):
            cycloid.load_public_key(key.public_key().public_bytes(PEM, SPKI))
    with pytest.raises(cycloid.UnsupportedKey):
        cycloid.load_private_key(b"PuTTY-User-Key-File-3: ssh-ed25519")
    for wrong in (b"", "", "text", b"\x30", b"{}", "-----BEGIN PRIVATE KEY-----\n", bytes(100)):
        for load in (cycloid.load_private_key, cycloid.load_public_key):
            with pytest.raises(cycloid.InvalidKey):
                load(wrong)
    for wrong in (None, 3, []):
        with pytest.raises(TypeError):
            cycloid.load_private_key(wrong)
    for load in (cycloid.load_private_key, cycloid.load_public_key):
        with pytest.raises(cycloid.InvalidKey, match="the contents of the file, not its name"):
            load("/etc/ssl/key.pem")
        with pytest.raises(cycloid.InvalidKey, match="JSON Web Key$"):
            load("two\nlines")
