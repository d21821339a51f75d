//! BIND's DNSSEC tools, which have the token by OpenSSL's engine.

use crate::support::{Bed, Kind, P256, USER_PIN, contains};

const ZONE: &str = "\
$TTL 3600
@ IN SOA ns.example.org. hostmaster.example.org. 1 7200 3600 1209600 3600
@ IN NS ns
ns IN A 192.0.2.1
www IN AAAA 2001:db8::1
";

#[test]
fn a_zone_signed_by_keys_of_the_token() {
    let bed = Bed::new();
    bed.configure_engine();
    bed.write("pin", USER_PIN);
    for (algorithm, kind) in [("RSASHA256", Kind::Rsa), ("ECDSAP256SHA256", P256)] {
        bed.write("zone", ZONE);
        let (zone_key, key_key) = (format!("{algorithm}-zsk"), format!("{algorithm}-ksk"));
        let mut keys = Vec::new();
        for (id, label, flag) in [(1, &zone_key, ""), (2, &key_key, "-f KSK")] {
            bed.generate(label, id, kind);
            let source = bed.path("pin");
            let uri = format!("pkcs11:token=office;object={label};pin-source={}", source.display());
            let make = format!("-E pkcs11 -a {algorithm} {flag} -l {uri} example.org");
            let said = bed.must("dnssec-keyfromlabel", &make);
            let name = said.split_whitespace().find(|word| word.starts_with("Kexample.org."));
            keys.push(name.expect("it says how it called the key").to_owned());
        }
        let sign = format!("-E pkcs11 -o example.org -k {} -f signed zone {}", keys[1], keys[0]);
        contains(&bed.must("dnssec-signzone", &sign), &["Zone fully signed", "1 active"]);
        let verified = bed.must("dnssec-verify", "-o example.org signed");
        contains(&verified, &["Zone fully signed", "KSKs: 1 active", "ZSKs: 1 active"]);
        let zone = String::from_utf8(bed.read("signed")).expect("a zone is text");
        assert!(zone.matches("RRSIG").count() >= 7, "{zone}");

        // The files that BIND keeps have no key in them.
        for key in &keys {
            let file = String::from_utf8(bed.read(&format!("{key}.private"))).expect("text");
            contains(&file, &["Engine:", "Label:"]);
            assert!(!file.contains("Prime1") && !file.contains("PrivateKey"), "{file}");
        }
    }
}
