//! A zone signed by ldns, which uses the token through OpenSSL's engine, and verified by BIND.
//! Debian 12 builds BIND without engines, so BIND's own tools cannot sign with a token.

use crate::support::{Kind, P256, TestBed, contains};

const ZONE: &str = "\
$TTL 3600
@ IN SOA ns.example.org. hostmaster.example.org. 1 7200 3600 1209600 3600
@ IN NS ns
ns IN A 192.0.2.1
www IN AAAA 2001:db8::1
";

#[test]
fn a_zone_signed_by_keys_of_the_token() {
    for (algorithm, kind) in [(8, Kind::Rsa), (13, P256)] {
        let bed = TestBed::new();
        bed.configure_engine();
        bed.write("zone", ZONE);
        bed.generate("zone-key", 1, kind);
        bed.generate("key-key", 2, kind);
        let key = |label| format!("{algorithm},pkcs11:token=office;object={label};type=private");
        let keys = format!("-k {} -K {}", key("zone-key"), key("key-key"));
        bed.must("ldns-signzone", &format!("-E pkcs11 -o example.org {keys} -f signed zone"));

        let verified = bed.must("dnssec-verify", "-o example.org signed");
        contains(&verified, &["Zone fully signed", "KSKs: 1 active", "ZSKs: 1 active"]);
        // A signature of other data is invalid.
        let zone = String::from_utf8(bed.read("signed")).expect("a zone is text");
        let other = zone.replace("2001:db8::1", "2001:db8::2");
        assert_ne!(zone, other);
        bed.write("signed", other);
        bed.must_fail("dnssec-verify", "-o example.org signed");
    }
}
