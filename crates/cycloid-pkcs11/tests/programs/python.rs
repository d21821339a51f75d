//! python-pkcs11: its own test suite, which is not installed with it.
//!
//! `CYCLOID_PYTHON_PKCS11` names the folder of the suite's source, and `CYCLOID_PYTHON` a Python that
//! has the package and `pytest`. Without the first, the test does nothing.

use std::collections::BTreeSet;
use std::process::Command;

use crate::support::{LABEL, OFFICER_PIN, TestBed, USER_PIN, module};

/// The tests that fail: docs/hsm.md gives the reasons.
const FAILURES: [&str; 3] = [
    "tests/test_rsa.py::RSATests::test_sign_pss",
    "tests/test_rsa.py::RSATests::test_sign_pss_undersized_buffer",
    "tests/test_x509.py::X509Tests::test_verify_certificate_rsa",
];

/// The changes of the suite that RSA keys of 2048 bits need.
const CHANGES: [(&str, &str); 4] = [
    ("KeyType.RSA, 1024", "KeyType.RSA, 2048"),
    ("assertEqual(1024, self", "assertEqual(2048, self"),
    (", 1024 // 8)", ", 2048 // 8)"),
    ("PKCS1v15())), 128)", "PKCS1v15())), 256)"),
];

#[test]
fn its_own_suite() {
    let Some(source) = std::env::var_os("CYCLOID_PYTHON_PKCS11") else {
        eprintln!("skipped: CYCLOID_PYTHON_PKCS11 does not name the suite's source");
        return;
    };
    let bed = TestBed::new();
    let tests = bed.path("tests");
    std::fs::create_dir(&tests).expect("a directory can be made");
    let files = std::fs::read_dir(std::path::Path::new(&source).join("tests"));
    for file in files.expect("the source has a folder tests").flatten() {
        if file.path().extension().is_some_and(|extension| extension == "py") {
            let text = std::fs::read_to_string(file.path()).expect("a test is text");
            let text = CHANGES.iter().fold(text, |text, (from, to)| text.replace(from, to));
            std::fs::write(tests.join(file.file_name()), text).expect("the file can be written");
        }
    }
    let python = std::env::var_os("CYCLOID_PYTHON").unwrap_or_else(|| "python3".into());
    let output = Command::new(python)
        .args(["-m", "pytest", "-q", "-rf", "--tb=line", "-p", "no:cacheprovider", "tests"])
        .current_dir(bed.path(""))
        .env("CYCLOID_HSM_SOCKET", bed.socket())
        .env("PKCS11_MODULE", module())
        .env("PKCS11_TOKEN_LABEL", LABEL)
        .env("PKCS11_TOKEN_PIN", USER_PIN)
        .env("PKCS11_TOKEN_SO_PIN", OFFICER_PIN)
        .output()
        .expect("Python starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let failed: BTreeSet<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("FAILED ")?.split_whitespace().next())
        .collect();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(failed, FAILURES.into(), "{said}{errors}");
    assert!(said.contains(" 128 passed"), "{said}");
}
