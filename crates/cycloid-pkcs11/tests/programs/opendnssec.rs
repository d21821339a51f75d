//! OpenDNSSEC's HSM library, through its two tools.

use crate::support::{LABEL, TestBed, USER_PIN, contains, module};

fn bed() -> TestBed {
    let bed = TestBed::new();
    let module = module();
    bed.write(
        "conf.xml",
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <Configuration><RepositoryList><Repository name=\"cycloid\">\n\
             <Module>{}</Module><TokenLabel>{LABEL}</TokenLabel><PIN>{USER_PIN}</PIN>\n\
             </Repository></RepositoryList></Configuration>\n",
            module.display()
        ),
    );
    bed
}

#[test]
fn keys_are_generated_listed_used_and_removed() {
    let bed = bed();
    for (kind, algorithm) in [("rsa 2048", "8"), ("ecdsa 256", "13"), ("ecdsa 384", "14")] {
        let said = bed.must("ods-hsmutil", &format!("-c conf.xml generate cycloid {kind}"));
        let id = said.split_whitespace().find(|word| word.len() == 32);
        let id = id.unwrap_or_else(|| panic!("no identifier in {said}"));
        contains(&bed.must("ods-hsmutil", "-c conf.xml list cycloid"), &[id]);
        let record = bed
            .must("ods-hsmutil", &format!("-c conf.xml dnskey {id} example.org 257 {algorithm}"));
        contains(&record, &["example.org.", "DNSKEY", &format!("257 3 {algorithm} ")]);
        contains(&bed.must("ods-hsmutil", &format!("-c conf.xml remove {id}")), &["successful"]);
        assert_eq!(bed.private_keys(), 0);
    }
}

/// The tests also want DSA and GOST, and RSA keys shorter than 2048 bits, which the token refuses.
#[test]
fn its_self_tests_pass() {
    let bed = bed();
    let said = bed.must_fail("ods-hsmutil", "-c conf.xml test cycloid");
    for made in [
        "2048-bit RSA",
        "4096-bit RSA",
        "ECDSA Curve P-256",
        "ECDSA Curve P-384",
        "ED25519",
        "ED448",
    ] {
        contains(&said, &[&format!("Generating {made} key... OK")]);
    }
    assert_eq!(said.matches("with key... OK").count(), 8, "{said}");
    assert_eq!(said.matches("Failed").count(), 8, "{said}");
    contains(&said, &["Generating 1024 bytes of random data... OK"]);
}

#[test]
fn many_threads_sign() {
    let bed = bed();
    let said = bed.must("ods-hsmspeed", "-c conf.xml -r cycloid -i 100 -s 2048 -t 8");
    contains(&said, &["8 threads", "sig/s"]);
    assert_eq!(bed.private_keys(), 0);
}
