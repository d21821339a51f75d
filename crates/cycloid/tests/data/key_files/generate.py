#!/usr/bin/env python3
"""Writes key files with the programs that people use, and expected.tsv with what each must give.

Needs openssl, ssh-keygen, certtool (GnuTLS), keytool (Java) and the package `cryptography`. Run it in
this directory; every run makes new keys. They protect nothing.
"""

import base64
import hashlib
import json
import pathlib
import shutil
import subprocess
import tempfile

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa, x25519

PASSPHRASE = "cycloid"
HERE = pathlib.Path(".")
ROWS = []
TEMPORARY = pathlib.Path(tempfile.mkdtemp())


def run(line, data=None):
    return subprocess.run(line.split(), input=data, check=True, capture_output=True).stdout


def openssl(line, data=None):
    return run("openssl " + line, data)


def ssh_keygen(*words):
    subprocess.run(["ssh-keygen", "-q", *words], check=True, capture_output=True)


def fingerprint(private):
    """The first bytes of the SHA-256 digest of SubjectPublicKeyInfo, by OpenSSL."""
    spki = openssl("pkey -pubout -outform DER", private)
    return hashlib.sha256(spki).hexdigest()[:16]


def add(name, content, private, public, passphrase="-"):
    """Writes a file; `private` and `public` are what reading it as such gives."""
    (HERE / name).write_bytes(content)
    expect(name, private, public, passphrase)


def expect(name, private, public, passphrase="-"):
    for role, outcome in [("private", private), ("public", public)]:
        if outcome is not None:
            ROWS.append("\t".join([name, role, passphrase, outcome]))


def error(what, hint):
    return f"error: {what}: {hint}"


GIVE_PRIVATE = "give the file of the private key"
GIVE_PUBLIC = "give the file of the public key"
REPLACE = "use a key for RSA, a NIST curve, Ed25519 or X25519"
PRIVATE_PEM = error("a PEM file with a private key", GIVE_PUBLIC)
PUBLIC_PEM = error("a PEM file with a public key", GIVE_PRIVATE)
PRIVATE_DER = error("a private key in DER", GIVE_PUBLIC)
SPKI = error("a SubjectPublicKeyInfo", GIVE_PRIVATE)
WRONG = "error: the passphrase is wrong, or the file is damaged"
ENCRYPTED = "an encrypted PKCS #8 file"
OLD_ENCRYPTED = "a PEM file encrypted in the older way (Proc-Type)"
GIVE_PASSPHRASE = "give its passphrase"
CONVERT = "convert it with `openssl pkcs8 -topk8 -v2 aes-256-cbc`"
PASS = f"-passout pass:{PASSPHRASE}"

KEYS = {
    "rsa": ("RSA", "-algorithm RSA -pkeyopt rsa_keygen_bits:2048"),
    "rsa-pss": ("RSA", "-algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048"),
    "p224": ("P-224", "-algorithm EC -pkeyopt ec_paramgen_curve:P-224"),
    "p256": ("P-256", "-algorithm EC -pkeyopt ec_paramgen_curve:P-256"),
    "p384": ("P-384", "-algorithm EC -pkeyopt ec_paramgen_curve:P-384"),
    "p521": ("P-521", "-algorithm EC -pkeyopt ec_paramgen_curve:P-521"),
    "ed25519": ("Ed25519", "-algorithm ED25519"),
    "x25519": ("X25519", "-algorithm X25519"),
}


def by_openssl():
    keys, outcomes = {}, {}
    for name, (kind, options) in KEYS.items():
        key = keys[name] = openssl("genpkey " + options)
        outcome = outcomes[name] = f"{kind} {fingerprint(key)}"
        add(f"openssl-{name}.pem", key, outcome, PRIVATE_PEM)
        der = openssl("pkcs8 -topk8 -nocrypt -outform DER", key)
        add(f"openssl-{name}.der", der, outcome, PRIVATE_DER)
        add(f"openssl-{name}.pub.pem", openssl("pkey -pubout", key), PUBLIC_PEM, outcome)
        der = openssl("pkey -pubout -outform DER", key)
        add(f"openssl-{name}.pub.der", der, SPKI, outcome)
    traditional_formats(keys, outcomes)
    encrypted(keys["p256"], outcomes["p256"])
    encrypted_traditional(keys, outcomes)
    rsa_forms()
    certificates(keys, outcomes)
    diffie_hellman()
    refused_algorithms()


def traditional_formats(keys, outcomes):
    key, outcome = keys["rsa"], outcomes["rsa"]
    add("openssl-rsa-traditional.pem", openssl("rsa -traditional", key), outcome, PRIVATE_PEM)
    der = openssl("rsa -traditional -outform DER", key)
    add("openssl-rsa-traditional.der", der, outcome, PRIVATE_DER)
    add("openssl-rsa-pkcs1.pub.pem", openssl("rsa -RSAPublicKey_out", key), PUBLIC_PEM, outcome)
    der = openssl("rsa -RSAPublicKey_out -outform DER", key)
    add("openssl-rsa-pkcs1.pub.der", der, error("a PKCS #1 public key", GIVE_PRIVATE), outcome)
    for name in ["p224", "p256", "p384", "p521"]:
        add(f"openssl-{name}-sec1.pem", openssl("ec", keys[name]), outcomes[name], PRIVATE_PEM)
    key, outcome = keys["p256"], outcomes["p256"]
    add("openssl-p256-sec1.der", openssl("ec -outform DER", key), outcome, PRIVATE_DER)
    named = openssl("ecparam -name secp384r1 -genkey")
    add("openssl-ecparam.pem", named, f"P-384 {fingerprint(named)}", PRIVATE_PEM)
    compressed = openssl("ec -pubout -conv_form compressed", key)
    add("openssl-p256-compressed.pub.pem", compressed, PUBLIC_PEM, outcome)
    explicit = openssl("ec -param_enc explicit", key)
    refused = "error: EC key: explicit curve parameters are not supported"
    add("openssl-p256-explicit.pem", explicit, refused, PRIVATE_PEM)


def encrypted(key, outcome):
    """Encrypted PKCS #8."""
    ways = {
        f"{cipher}-{prf}": f"-v2 {cipher}-cbc -v2prf {prf} -iter 2048"
        for cipher in ["aes-128", "aes-192", "aes-256"]
        for prf in ["hmacWithSHA1", "hmacWithSHA256", "hmacWithSHA512"]
    }
    ways["sha224"] = "-v2 aes-256-cbc -v2prf hmacWithSHA224"
    ways["sha384"] = "-v2 aes-256-cbc -v2prf hmacWithSHA384"
    ways["scrypt"] = "-scrypt -scrypt_N 1024"
    for name, options in ways.items():
        file = f"openssl-encrypted-{name}.pem"
        add(file, openssl(f"pkcs8 -topk8 {options} {PASS}", key), outcome, PRIVATE_PEM, PASSPHRASE)
    expect(file, error(ENCRYPTED, GIVE_PASSPHRASE), None)
    expect(file, WRONG, None, "wrong")
    der = openssl(f"pkcs8 -topk8 -outform DER {PASS}", key)
    add("openssl-encrypted.der", der, outcome, error(ENCRYPTED, GIVE_PUBLIC), PASSPHRASE)
    text = openssl(f"pkcs8 -topk8 -v2 des3 {PASS}", key)
    add("openssl-encrypted-des3.pem", text, outcome, PRIVATE_PEM, PASSPHRASE)
    what = "a PKCS #8 file with an encryption other than PBES2 with AES or Triple DES"
    text = openssl(f"pkcs8 -topk8 -v1 PBE-SHA1-3DES {PASS}", key)
    add("openssl-encrypted-pbes1.pem", text, error(what, CONVERT), PRIVATE_PEM, PASSPHRASE)


def encrypted_traditional(keys, outcomes):
    """PEM with encryption in its headers."""
    for cipher in ["aes128", "aes192", "aes256", "des3"]:
        text = openssl(f"rsa -traditional -{cipher} {PASS}", keys["rsa"])
        add(f"openssl-traditional-{cipher}.pem", text, outcomes["rsa"], PRIVATE_PEM, PASSPHRASE)
    text, outcome = openssl(f"ec -aes256 {PASS}", keys["p256"]), outcomes["p256"]
    name = "openssl-traditional-p256.pem"
    add(name, text, outcome, PRIVATE_PEM, PASSPHRASE)
    expect(name, error(OLD_ENCRYPTED, GIVE_PASSPHRASE), None)
    expect(name, WRONG, None, "wrong")
    text = text.replace(b"\n", b"\r\n")
    add("openssl-traditional-crlf.pem", text, outcome, None, PASSPHRASE)


def rsa_forms():
    for name, options in [
        ("three-primes", "genrsa -primes 3 2048"),
        ("2047", "genrsa 2047"),
        ("long-exponent", "genpkey -algorithm RSA -pkeyopt rsa_keygen_pubexp:18446744073709551557"),
    ]:
        key = openssl(options)
        add(f"openssl-rsa-{name}.pem", key, f"RSA {fingerprint(key)}", None)
    refused = "error: RSA key: a modulus of {} bits is not between 2041 and 16384"
    key = openssl("genrsa 1024")
    add("openssl-rsa-1024.pem", key, refused.format(1024), None)
    add("openssl-rsa-1024.pub.pem", openssl("rsa -pubout", key), None, "legacy RSA 1024")
    key = openssl("rsa -pubout", openssl("genrsa 512"))
    add("openssl-rsa-512.pub.pem", key, None, refused.format(512))


def certificates(keys, outcomes):
    """Certificates, and what else holds keys."""
    path = TEMPORARY / "key"
    for name in ["rsa", "p256", "ed25519"]:
        path.write_bytes(keys[name])
        certificate = openssl(f"req -x509 -key {path} -subj /CN=cycloid -days 36500")
        add(f"openssl-{name}.crt", certificate, PUBLIC_PEM, outcomes[name])
        der = openssl("x509 -outform DER", certificate)
        add(f"openssl-{name}.crt.der", der, error("a certificate", GIVE_PRIVATE), outcomes[name])
    request = openssl(f"req -new -key {path} -subj /CN=cycloid")
    hint = "extract its key with `openssl req -pubkey -noout`"
    add("openssl.csr", request, PUBLIC_PEM, error("a certificate request", hint))
    trusted = openssl("x509 -trustout -setalias cycloid", certificate)
    refused = error(
        "a certificate with OpenSSL's trust settings", "convert it with `openssl x509 -clrtrust`"
    )
    add("openssl-trusted.crt", trusted, PUBLIC_PEM, refused)
    both = certificate + keys["ed25519"]
    outcome = outcomes["ed25519"]
    add("openssl-key-and-certificate.pem", both, outcome, outcome)
    (TEMPORARY / "crt").write_bytes(certificate)
    archive = openssl(f"pkcs12 -export -inkey {path} -in {TEMPORARY}/crt {PASS}")
    add("openssl.p12", archive, PKCS12_PRIVATE, PKCS12_PUBLIC)


PKCS12_PRIVATE = error(
    "a PKCS #12 archive", "extract the key with `openssl pkcs12 -nocerts -nodes`"
)
PKCS12_PUBLIC = error(
    "a PKCS #12 archive", "extract its certificate with `openssl pkcs12 -nokeys`"
)


def diffie_hellman():
    for name, options, group in [
        ("pkcs3", "-algorithm DH -pkeyopt group:ffdhe2048", "ffdhe2048"),
        ("modp", "-algorithm DH -pkeyopt group:modp_2048", "modp2048"),
        ("x942", "-algorithm DHX -pkeyopt group:ffdhe3072", "ffdhe3072"),
    ]:
        key = openssl("genpkey " + options)
        add(f"openssl-dh-{name}.pem", key, f"DH {group}", PRIVATE_PEM)
        add(f"openssl-dh-{name}.pub.pem", openssl("pkey -pubout", key), PUBLIC_PEM, f"DH {group}")
    for name, options in [
        ("own", "dhparam -dsaparam 2048"),
        ("safe", "dhparam 2048"),
        ("order", "genpkey -genparam -algorithm DHX -pkeyopt dh_rfc5114:2"),
    ]:
        (TEMPORARY / "dh").write_bytes(openssl(options))
        key = openssl(f"genpkey -paramfile {TEMPORARY}/dh")
        public = openssl("pkey -pubout", key)
        value = serialization.load_pem_public_key(public).public_numbers().y
        digest = hashlib.sha256(value.to_bytes((value.bit_length() + 7) // 8, "big")).hexdigest()
        outcome = f"custom DH 2048 {digest[:16]}"
        add(f"openssl-dh-{name}.pem", key, outcome, PRIVATE_PEM)
        add(f"openssl-dh-{name}.pub.pem", public, PUBLIC_PEM, outcome)
    (TEMPORARY / "dh").write_bytes(openssl("dhparam 1024"))
    refused = "error: Diffie-Hellman key: a modulus of 1024 bits is not between 2048 and 8192"
    add("openssl-dh-short.pem", openssl(f"genpkey -paramfile {TEMPORARY}/dh"), refused, None)


def refused_algorithms():
    (TEMPORARY / "dsa").write_bytes(openssl("dsaparam 1024"))
    key = openssl(f"gendsa {TEMPORARY}/dsa")
    refused = error("a DSA key, which Cycloid does not support", REPLACE)
    add("openssl-dsa.pem", openssl("pkcs8 -topk8 -nocrypt", key), refused, PRIVATE_PEM)
    add("openssl-dsa-traditional.pem", openssl("pkey -traditional", key), refused, PRIVATE_PEM)
    der = openssl("dsa -outform DER", key)
    add("openssl-dsa-traditional.der", der, refused, PRIVATE_DER)
    add("openssl-dsa.pub.pem", openssl("pkey -pubout", key), PUBLIC_PEM, refused)
    for name in ["Ed448", "X448"]:
        key = openssl(f"genpkey -algorithm {name}")
        refused = error(f"an {name} key, which Cycloid does not support", REPLACE)
        add(f"openssl-{name.lower()}.pem", key, refused, PRIVATE_PEM)
        add(f"openssl-{name.lower()}.pub.pem", openssl("pkey -pubout", key), PUBLIC_PEM, refused)
    for curve in ["secp256k1", "brainpoolP256r1"]:
        key = openssl(f"genpkey -algorithm EC -pkeyopt ec_paramgen_curve:{curve}")
        refused = error("a key on a curve other than P-224, P-256, P-384 and P-521", REPLACE)
        add(f"openssl-{curve}.pem", key, refused, PRIVATE_PEM)
        add(f"openssl-{curve}-sec1.pem", openssl("ec", key), refused, PRIVATE_PEM)
        add(f"openssl-{curve}.pub.pem", openssl("pkey -pubout", key), PUBLIC_PEM, refused)


SSH_LINE = error("an OpenSSH public key", GIVE_PRIVATE)


def by_ssh_keygen():
    kinds = {
        "rsa": ("RSA", "-t rsa -b 2048"),
        "p256": ("P-256", "-t ecdsa -b 256"),
        "p384": ("P-384", "-t ecdsa -b 384"),
        "p521": ("P-521", "-t ecdsa -b 521"),
        "ed25519": ("Ed25519", "-t ed25519"),
    }
    for name, (kind, options) in kinds.items():
        path = TEMPORARY / f"ssh-{name}"
        ssh_keygen(*options.split(), "-N", "", "-C", "a comment", "-f", path)
        key, line = path.read_bytes(), pathlib.Path(f"{path}.pub").read_bytes()
        loaded = serialization.load_ssh_private_key(key, None)
        spki = loaded.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        outcome = f"{kind} {hashlib.sha256(spki).hexdigest()[:16]}"
        add(f"ssh-keygen-{name}", key, outcome, PRIVATE_PEM)
        add(f"ssh-keygen-{name}.pub", line, SSH_LINE, outcome)
        ssh_keygen("-p", "-P", "", "-N", PASSPHRASE, "-a", "2", "-f", path)
        file = f"ssh-keygen-{name}-encrypted"
        add(file, path.read_bytes(), outcome, PRIVATE_PEM, PASSPHRASE)
        expect(file, error("an encrypted OpenSSH private key", "give its passphrase"), None)
        expect(file, WRONG, None, "wrong")
    for cipher in ["aes128-ctr", "aes192-ctr", "aes128-cbc", "aes192-cbc", "aes256-cbc",
                   "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com",
                   "aes128-gcm@openssh.com", "3des-cbc"]:
        ssh_keygen("-p", "-P", PASSPHRASE, "-N", PASSPHRASE, "-a", "1", "-Z", cipher, "-f", path)
        file = f"ssh-keygen-{cipher.split('@')[0]}"
        add(file, path.read_bytes(), outcome, None, PASSPHRASE)
        expect(file, WRONG, None, "wrong")
    path = TEMPORARY / "ssh-p256"
    for form in ["PEM", "PKCS8"]:
        ssh_keygen("-p", "-P", PASSPHRASE, "-N", "", "-m", form, "-f", path)
        key = path.read_bytes()
        add(f"ssh-keygen-{form.lower()}.pem", key, f"P-256 {fingerprint(key)}", PRIVATE_PEM)
        ssh_keygen("-p", "-P", "", "-N", PASSPHRASE, "-m", form, "-f", path)
        add(f"ssh-keygen-{form.lower()}-encrypted.pem", path.read_bytes(),
            f"P-256 {fingerprint(key)}", PRIVATE_PEM, PASSPHRASE)
    exported = run(f"ssh-keygen -e -f {path}.pub")
    other = error("an SSH public key in the format of RFC 4716", "convert it with `ssh-keygen -i -f KEY`")
    add("ssh-keygen-rfc4716.pub", exported, other, other)
    ssh_keygen("-s", TEMPORARY / "ssh-ed25519", "-P", PASSPHRASE, "-I", "id", f"{path}.pub")
    add("ssh-keygen-certificate.pub", pathlib.Path(f"{path}-cert.pub").read_bytes(), SSH_LINE,
        error("an OpenSSH certificate", "give the file of the key that it certifies"))


def by_certtool():
    for name, kind, options in [
        ("rsa", "RSA", "--key-type rsa --bits 2048"),
        ("p256", "P-256", "--key-type ecdsa --curve secp256r1"),
        ("p384", "P-384", "--key-type ecdsa --curve secp384r1"),
        ("ed25519", "Ed25519", "--key-type ed25519"),
        ("x25519", "X25519", "--key-type x25519"),
    ]:
        path = TEMPORARY / f"certtool-{name}"
        run(f"certtool --generate-privkey {options} --outfile {path}")
        key = path.read_bytes()
        outcome = f"{kind} {fingerprint(key)}"
        # The program writes the numbers as text before the PEM.
        add(f"certtool-{name}.pem", key, outcome, PRIVATE_PEM)
        if name != "x25519":
            public = run(f"certtool --load-privkey {path} --pubkey-info")
            add(f"certtool-{name}.pub.pem", public, PUBLIC_PEM, outcome)
        for cipher in ["aes-128", "aes-256"]:
            encrypted = run(f"certtool --to-p8 --load-privkey {path} --pkcs-cipher {cipher} --password {PASSPHRASE}")
            add(f"certtool-{name}-{cipher}.pem", encrypted, outcome, PRIVATE_PEM, PASSPHRASE)


def by_keytool():
    for store in ["PKCS12", "JKS"]:
        path = TEMPORARY / f"store.{store}"
        run(f"keytool -genkeypair -alias key -keyalg EC -groupname secp256r1 -dname CN=cycloid -validity 36500"
            f" -storetype {store} -keystore {path} -storepass {PASSPHRASE} -keypass {PASSPHRASE}")
        keystore = error("a Java keystore",
                         "convert it with `keytool -importkeystore -deststoretype pkcs12`, "
                         "then extract the key with `openssl pkcs12 -nodes`")
        refused = keystore if store == "JKS" else PKCS12_PRIVATE
        add(f"keytool.{store.lower()}", path.read_bytes(), refused, None)
    for flag, name in [("-rfc", "keytool.crt"), ("", "keytool.crt.der")]:
        certificate = run(f"keytool -exportcert {flag} -alias key -keystore {path} -storepass {PASSPHRASE}")
        spki = openssl("x509 -noout -pubkey" + ("" if flag else " -inform DER"), certificate)
        digest = hashlib.sha256(openssl("pkey -pubin -outform DER", spki)).hexdigest()[:16]
        add(name, certificate, None, f"P-256 {digest}")


def by_cryptography():
    keys = {
        "rsa": ("RSA", rsa.generate_private_key(3, 2048)),
        "p521": ("P-521", ec.generate_private_key(ec.SECP521R1())),
        "ed25519": ("Ed25519", ed25519.Ed25519PrivateKey.generate()),
        "x25519": ("X25519", x25519.X25519PrivateKey.generate()),
    }
    formats = serialization.PrivateFormat
    for name, (kind, key) in keys.items():
        spki = key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        outcome = f"{kind} {hashlib.sha256(spki).hexdigest()[:16]}"
        for written, form in [("pkcs8", formats.PKCS8), ("traditional", formats.TraditionalOpenSSL),
                              ("openssh", formats.OpenSSH)]:
            if name.endswith("25519") and form == formats.TraditionalOpenSSL:
                continue
            if name == "x25519" and form == formats.OpenSSH:
                continue
            protections = {"": serialization.NoEncryption(),
                           "-encrypted": serialization.BestAvailableEncryption(PASSPHRASE.encode())}
            if form == formats.OpenSSH:
                # Its encryption needs another package.
                del protections["-encrypted"]
            for suffix, protection in protections.items():
                content = key.private_bytes(serialization.Encoding.PEM, form, protection)
                add(f"pyca-{name}-{written}{suffix}.pem", content, outcome, PRIVATE_PEM,
                    PASSPHRASE if suffix else "-")


def encoded(number, length=None):
    data = number if isinstance(number, bytes) else number.to_bytes(
        length or (number.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def json_web_keys():
    private_jwk = error("a private JSON Web Key", GIVE_PUBLIC)
    public_jwk = error("a public JSON Web Key", GIVE_PRIVATE)

    def write(name, jwk, outcome, private_names):
        text = json.dumps(jwk, indent=1)
        add(f"{name}.jwk", text.encode(), outcome, private_jwk)
        public = {key: value for key, value in jwk.items() if key not in private_names}
        add(f"{name}.pub.jwk", json.dumps(public).encode(), public_jwk, outcome)

    def outcome_of(kind, key):
        spki = key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        return f"{kind} {hashlib.sha256(spki).hexdigest()[:16]}"

    key = rsa.generate_private_key(65537, 2048)
    numbers = key.private_numbers()
    jwk = {"kty": "RSA", "kid": "1", "n": encoded(numbers.public_numbers.n),
           "e": encoded(numbers.public_numbers.e), "d": encoded(numbers.d)}
    names = {"d", "p", "q", "dp", "dq", "qi"}
    write("rsa-without-primes", jwk, outcome_of("RSA", key), names)
    jwk |= {"p": encoded(numbers.p), "q": encoded(numbers.q), "dp": encoded(numbers.dmp1),
            "dq": encoded(numbers.dmq1), "qi": encoded(numbers.iqmp)}
    write("rsa", jwk, outcome_of("RSA", key), names)
    for crv, curve, length in [("P-224", ec.SECP224R1(), 28), ("P-256", ec.SECP256R1(), 32),
                               ("P-384", ec.SECP384R1(), 48), ("P-521", ec.SECP521R1(), 66)]:
        key = ec.generate_private_key(curve)
        numbers = key.private_numbers()
        jwk = {"kty": "EC", "crv": crv, "x": encoded(numbers.public_numbers.x, length),
               "y": encoded(numbers.public_numbers.y, length), "d": encoded(numbers.private_value, length)}
        write(crv.lower(), jwk, outcome_of(crv, key), {"d"})
        if crv == "P-256":
            other = jwk | {"d": encoded(1, length)}
            mismatch = "error: the public key in the file does not match the private key"
            add("mismatch.jwk", json.dumps(other).encode(), mismatch, None)
            keys = error("a set of JSON Web Keys", "take one key out of it")
            add("set.jwk", json.dumps({"keys": [jwk]}).encode(), keys, keys)
    for crv, kind in [("Ed25519", ed25519.Ed25519PrivateKey), ("X25519", x25519.X25519PrivateKey)]:
        key = kind.generate()
        jwk = {"kty": "OKP", "crv": crv, "x": encoded(key.public_key().public_bytes_raw()),
               "d": encoded(key.private_bytes_raw())}
        write(crv.lower(), jwk, outcome_of(crv, key), {"d"})
    symmetric = error("a symmetric JSON Web Key", "give the file of a private or public key")
    add("oct.jwk", b'{"kty":"oct","k":"AAEC"}', symmetric, symmetric)
    damaged = "error: damaged JSON Web Key: get the file again"
    add("damaged.jwk", b'{"kty":"RSA","n":"*","e":"AQAB"}', None, damaged)


def others():
    putty = error("a PuTTY key", "convert it with `puttygen KEY -O private-openssh`")
    add("putty.ppk", b"PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n", putty, putty)
    unknown = ("error: no key file: neither PEM nor DER, nor a line or file of OpenSSH, "
               "nor a JSON Web Key")
    add("empty", b"", unknown, unknown)
    add("text", b"no key\n", unknown, unknown)
    no_key = error("a PEM file without a key", "look at its labels")
    add("parameters.pem", openssl("ecparam -name prime256v1"), no_key, no_key)


by_openssl()
by_ssh_keygen()
by_certtool()
by_keytool()
by_cryptography()
json_web_keys()
others()
(HERE / "expected.tsv").write_text("\n".join(ROWS) + "\n")
shutil.rmtree(TEMPORARY)
print(len(ROWS), "rows")
