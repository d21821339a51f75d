//! Keys: generated, written, read, compared and refused.

use crate::support::{BOTH, Place, With, module, openssl};

/// Algorithms as `genpkey` takes them, and the name in the log.
const USUAL: [(&str, &str); 8] = [
    ("ED25519", "ED25519"),
    ("X25519", "X25519"),
    ("EC -pkeyopt group:P-224", "EC"),
    ("EC -pkeyopt group:P-256", "EC"),
    ("EC -pkeyopt group:secp384r1", "EC"),
    ("EC -pkeyopt group:P-521 -pkeyopt ec_param_enc:named_curve", "EC"),
    ("RSA", "RSA"),
    ("RSA-PSS", "RSA-PSS"),
];

/// Keys that are left to the default provider.
const UNUSUAL: [(&str, &str); 7] = [
    ("EC -pkeyopt group:secp256k1", "EC"),
    ("EC -pkeyopt group:P-256 -pkeyopt ec_param_enc:explicit", "EC"),
    ("EC -pkeyopt group:P-256 -pkeyopt point-format:compressed", "EC"),
    ("RSA -pkeyopt rsa_keygen_bits:1024", "RSA"),
    ("RSA -pkeyopt rsa_keygen_bits:1024 -pkeyopt rsa_keygen_pubexp:3", "RSA"),
    ("RSA -pkeyopt rsa_keygen_bits:1024 -pkeyopt rsa_keygen_primes:3", "RSA"),
    (
        "RSA-PSS -pkeyopt rsa_keygen_bits:1024 -pkeyopt rsa_pss_keygen_md:sha256 \
         -pkeyopt rsa_pss_keygen_mgf1_md:sha256 -pkeyopt rsa_pss_keygen_saltlen:20",
        "RSA-PSS",
    ),
];

/// Generates a key, and reads and writes it with and without Cycloid: the files are the same.
fn round_trip(by: &str, (algorithm, name): (&str, &str)) {
    let place = Place::new();
    for with in BOTH {
        place.ok(with, &format!("genpkey -algorithm {algorithm} -out key.pem"));
        let line = format!("{by} generate {name}");
        assert_eq!(place.logged(&line), usize::from(with == With::Cycloid), "{line} by {with:?}");
        for command in [
            "pkey -in key.pem -text",
            "pkey -in key.pem -text_pub -noout",
            "pkey -in key.pem -traditional -outform DER",
            "pkey -in key.pem -pubout",
            "pkey -in key.pem -noout -check",
        ] {
            let [a, b] = BOTH.map(|with| place.run(with, command));
            assert!(a.status.success() || !b.status.success(), "{command}: {a:?}");
            assert_eq!(a.stdout, b.stdout, "{command}, {algorithm}");
        }
        place.ok(With::Stock, "pkey -in key.pem -pubout -out public.pem");
        for command in ["pkey -pubin -in public.pem -text", "pkey -pubin -in public.pem -pubcheck"]
        {
            let [a, b] = BOTH.map(|with| place.run(with, command));
            assert_eq!((a.status, a.stdout), (b.status, b.stdout), "{command}, {algorithm}");
        }
    }
}

#[test]
fn the_provider_is_listed() {
    let place = Place::new();
    let listed = place.ok(With::Cycloid, "list -providers");
    assert!(listed.contains("name: Cycloid") && listed.contains("status: active"), "{listed}");
    let listed = place.ok(With::Cycloid, "list -signature-algorithms");
    for name in ["RSA", "ECDSA", "ED25519"] {
        let found = listed.lines().any(|it| it.contains(name) && it.ends_with("@ cycloid"));
        assert!(found, "{name}: {listed}");
    }
}

/// The beginnings of Debian's `openssl.cnf`: of Debian 12, and of versions with a list of providers.
const BEGINNINGS: [&str; 2] = [
    "openssl_conf = openssl_init\n[openssl_init]\n# providers = provider_sect\n",
    "openssl_conf = openssl_init\n[openssl_init]\nproviders = provider_sect\n\
     [provider_sect]\ndefault = default_sect\n[default_sect]\n# activate = 1\n",
];

#[test]
fn the_packaged_configuration_joins_that_of_debian() {
    let place = Place::new();
    let packaged = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/openssl/cycloid.cnf");
    let packaged = std::fs::read_to_string(packaged).expect("the file is there");
    let module = module().display().to_string();
    place.write("packaged.cnf", &packaged.replace("/usr/local/lib/cycloid.so", &module));
    let system = std::fs::read_to_string("/etc/ssl/openssl.cnf").unwrap_or_default();
    let here = system.contains("openssl_conf = openssl_init").then_some(system);
    let included = format!(".include {}\n", place.path("packaged.cnf").display());
    for beginning in BEGINNINGS.map(String::from).into_iter().chain(here) {
        place.write("openssl.cnf", &format!("{beginning}\n[ another ]\nname = value\n{included}"));
        let mut command = place.program(&openssl(), With::Stock);
        command.env("OPENSSL_CONF", place.path("openssl.cnf")).args(["list", "-providers"]);
        let listed = command.output().expect("`openssl` runs").stdout;
        let listed = String::from_utf8_lossy(&listed);
        for name in ["name: Cycloid", "name: OpenSSL Default Provider"] {
            assert!(listed.contains(name), "{name}, {beginning}: {listed}");
        }
    }
}

#[test]
fn usual_keys() {
    USUAL.into_iter().for_each(|key| round_trip("cycloid", key));
}

#[test]
fn unusual_keys() {
    UNUSUAL.into_iter().for_each(|key| round_trip("default", key));
}

#[test]
fn bad_keys_are_errors() {
    let place = Place::new();
    for arguments in [
        "genpkey -algorithm EC -pkeyopt group:nonsense",
        "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:100",
        "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_keygen_pubexp:4",
    ] {
        place.fails(With::Cycloid, arguments);
    }
    // A point that is not on the curve, with a good one's header.
    place.ok(With::Stock, "genpkey -algorithm EC -pkeyopt group:P-256 -outform DER -out key.der");
    place.ok(With::Stock, "pkey -inform DER -in key.der -pubout -outform DER -out public.der");
    crate::support::spoil(&place.path("public.der"), 0);
    place.fails(With::Cycloid, "pkey -pubin -inform DER -in public.der -noout");
    // A public key that is another's.
    crate::support::spoil(&place.path("key.der"), 100);
    let [a, b] = BOTH.map(|with| place.run(with, "pkey -inform DER -in key.der -check -noout"));
    assert_eq!(a.status, b.status, "{a:?} {b:?}");
}
