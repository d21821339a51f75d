//! The OCaml binding: built with dune on an installation of libcycloid, with its own tests; and the
//! tests of mirage-crypto-ec, unchanged, if their source is given.

mod support;

use std::path::{Path, PathBuf};

use support::{Installed, package, succeed};

/// Copies a folder, so that dune's results are not written to the sources.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory can be made");
    for entry in std::fs::read_dir(from).expect("the folder is there").flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            if entry.file_name() != "_build" {
                copy(&source, &target);
            }
        } else {
            std::fs::copy(&source, &target).expect("a file can be copied");
        }
    }
}

/// Copies the binding next to an installation.
fn binding(installed: &Installed) -> PathBuf {
    let folder = installed.path("ocaml");
    copy(&package().join("../../bindings/ocaml"), &folder);
    folder
}

#[test]
fn the_binding_builds_and_passes_its_tests() {
    let installed = Installed::new();
    let folder = binding(&installed);
    let mut dune = installed.command("dune");
    dune.args(["build", "--root", ".", "@install", "@runtest", "--display=short", "--force"]);
    succeed(dune.current_dir(&folder));
    for library in ["cycloid_ec.cmxa", "cstruct/cycloid_ec_cstruct.cmxa"] {
        let built = folder.join("_build/install/default/lib/cycloid-ec").join(library);
        assert!(built.exists(), "{library} is installed");
    }
}

/// `CYCLOID_MIRAGE_CRYPTO=DIR cargo test -p cycloid-c --test ocaml -- --ignored`, where DIR is the
/// source of mirage-crypto 0.10. Its tests need Debian's `libalcotest-ocaml-dev`,
/// `libasn1-combinators-ocaml-dev`, `libppx-deriving-yojson-ocaml-dev` and `libmirage-crypto-ocaml-dev`.
#[test]
#[ignore = "needs the source of mirage-crypto 0.10 in CYCLOID_MIRAGE_CRYPTO"]
fn the_tests_of_mirage_crypto_ec_pass_unchanged() {
    let source = std::env::var("CYCLOID_MIRAGE_CRYPTO").expect("CYCLOID_MIRAGE_CRYPTO is set");
    let tests = Path::new(&source).join("tests");
    let installed = Installed::new();
    let folder = binding(&installed);
    copy(&tests, &folder.join("upstream"));
    // The tests of mirage-crypto-ec, with another word for the library. The package is not here.
    let rules = folder.join("upstream/dune");
    let text = std::fs::read_to_string(&rules).expect("the tests have rules");
    let rules_of_ec = text.split("\n\n").filter(|rule| rule.contains("mirage-crypto-ec"));
    let changed = rules_of_ec.map(|rule| {
        let lines = rule.lines().filter(|line| !line.contains("(package"));
        let rule =
            lines.collect::<Vec<_>>().join("\n").replace("mirage-crypto-ec", "cycloid-ec.cstruct");
        // The last line, with the package, closed the rule.
        rule + ")\n"
    });
    std::fs::write(&rules, changed.collect::<String>()).expect("a file can be written");
    let mut dune = installed.command("dune");
    dune.args(["build", "--root", ".", "@upstream/runtest", "--force"]);
    let output = dune.current_dir(&folder).output().expect("dune runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    for ended in text.lines().filter(|line| line.contains("Test Successful")) {
        println!("{ended}");
    }
    assert_eq!(text.matches("Test Successful").count(), 2, "{text}");
}
