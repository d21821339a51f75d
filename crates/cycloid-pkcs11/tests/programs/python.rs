//! python-pkcs11: its own test suite, which is not installed with it.
//!
//! `CYCLOID_PYTHON_PKCS11` names the folder of the suite's source, and `CYCLOID_PYTHON` a Python
//! that has the package and `pytest`.

use std::collections::BTreeSet;
use std::process::Command;

use cycloid_hsm::legacy::Legacy;

use crate::support::{LABEL, OFFICER_PIN, TestBed, USER_PIN, module};

#[test]
#[ignore = "needs the source of python-pkcs11 in CYCLOID_PYTHON_PKCS11"]
fn its_own_suite() {
    let source = std::env::var_os("CYCLOID_PYTHON_PKCS11");
    let source = source.expect("CYCLOID_PYTHON_PKCS11 names the suite's source");
    let bed = TestBed::new();
    // The suite has RSA keys of 1024 bits, and signs with SHA-1.
    Legacy::ALL.into_iter().for_each(|weak| bed.allow(weak));
    let tests = bed.path("tests");
    std::fs::create_dir(&tests).expect("a directory can be made");
    let files = std::fs::read_dir(std::path::Path::new(&source).join("tests"));
    for file in files.expect("the source has a folder tests").flatten() {
        if file.path().extension().is_some_and(|extension| extension == "py") {
            std::fs::copy(file.path(), tests.join(file.file_name())).expect("it can be copied");
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
    assert_eq!(failed, BTreeSet::new(), "{said}{errors}");
    // docs/hsm.md gives the reasons for those that are skipped.
    assert!(said.contains("131 passed"), "{said}");
}
