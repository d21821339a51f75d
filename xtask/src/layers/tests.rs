//! Small trees in a temporary folder, each with one violation.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{rules, tree};

/// A tree that obeys every rule, before a change is applied.
const SOUND: [(&str, &str); 9] = [
    (
        "ARCHITECTURE.md",
        "# A\n<!-- unsafe: begin -->\n| `tool/src/main.rs` | calls C |\n<!-- unsafe: end -->\n",
    ),
    ("tool/src/main.rs", "fn main() { unsafe { call() } }"),
    (
        "crates/cycloid/src/lib.rs",
        "#[cfg(test)]\nextern crate std;\npub mod machine;\nmod math;\npub use math::modular;\n",
    ),
    ("crates/cycloid/src/machine/mod.rs", "pub mod ct;\npub mod words;"),
    ("crates/cycloid/src/machine/ct.rs", "fn f() { unsafe { g() } }"),
    ("crates/cycloid/src/machine/words/portable.rs", "use super::super::ct;"),
    ("crates/cycloid/src/machine/words/adx.rs", "use crate::machine::ct::f;"),
    (
        "crates/cycloid/src/math/mod.rs",
        "use crate::machine::words; use super::machine::ct;\n#[cfg(test)]\nmod tests;\npub mod modular {}",
    ),
    ("crates/cycloid/src/math/tests.rs", "use std::vec::Vec;"),
];

/// Returns the violations in the valid tree with these changes.
fn broken(changes: &[(&str, &str)]) -> Vec<String> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("cycloid-layers-{}-{number}", std::process::id());
    let root = Temporary(std::env::temp_dir().join(name));
    let _ = fs::remove_dir_all(&root.0);
    for (path, text) in SOUND.iter().chain(changes) {
        let path = root.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let files = tree::read(&root.0).unwrap();
    rules::check(&files).iter().map(ToString::to_string).collect()
}

/// A folder that is removed on drop.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Checks that one change causes exactly one violation with this text.
#[track_caller]
fn fails(path: &str, text: &str, complaint: &str) {
    let broken = broken(&[(path, text)]);
    assert_eq!(broken.len(), 1, "{text}: {broken:?}");
    assert!(broken[0].starts_with(path) && broken[0].contains(complaint), "{}", broken[0]);
}

#[track_caller]
fn passes(path: &str, text: &str) {
    let broken = broken(&[(path, text)]);
    assert!(broken.is_empty(), "{text}: {broken:?}");
}

const CT: &str = "crates/cycloid/src/machine/ct.rs";
const MODULAR: &str = "crates/cycloid/src/math/modular/mod.rs";

#[test]
fn the_valid_tree_passes() {
    assert!(broken(&[]).is_empty(), "{:?}", broken(&[]));
}

#[test]
fn imports_up_a_floor_fail() {
    fails(CT, "use crate::math::modular;", "goes up, from machine to math");
    fails(CT, "use crate::scheme::rsa;", "goes up, from machine to scheme");
    fails(MODULAR, "use crate::scheme::{rsa as r};", "goes up, from math to scheme");
    fails(CT, "use super::super::math;", "goes up, from machine to math");
    fails(CT, "fn f() { crate::math::g::<u8>() }", "goes up");
    fails(CT, "fn f() -> super::super::math::T { g() }", "goes up");
    fails(CT, "use crate::{machine::words, math};", "goes up");
    fails(CT, "mod inner { use super::super::super::math::x; }", "goes up");
    fails(CT, "macro_rules! m { () => { $crate::math::x() } }", "goes up");
    fails(CT, "/* a */ use\n  crate // b\n  ::math;", ":2: `crate::math` goes up");
}

#[test]
fn the_face_is_above_all_floors() {
    fails(CT, "use crate::modular;", "goes up, from machine to the crate's face");
    fails(CT, "use super::super::*;", "the crate's face");
    fails(MODULAR, "use crate as root;", "the crate's face");
}

#[test]
fn imports_down_and_beside_pass() {
    passes(MODULAR, "use crate::machine::ct; use super::super::machine::words; use super::x;");
    passes(
        "crates/cycloid/src/scheme/rsa.rs",
        "use crate::{machine, math::modular}; use super::dh;",
    );
    passes(CT, "pub(crate) fn f() {} pub(in crate::machine) fn g() {} // crate::math");
}

#[test]
fn unsafe_outside_its_place_fails() {
    fails(MODULAR, "fn f() { unsafe { g() } }", "in the library outside");
    fails("crates/cycloid/src/lib.rs", "unsafe impl Send for X {}", "in the library outside");
    fails("tool/src/other.rs", "fn f() { unsafe { g() } }", "is not in the list");
    fails("tool/src/other.rs", "#[unsafe(no_mangle)] fn f() {}", "is not in the list");
    fails(MODULAR, "#![allow(unsafe_code)]", "first floor only");
}

#[test]
fn unsafe_as_a_word_passes() {
    passes(
        MODULAR,
        "//! unsafe\n/* unsafe */ const A: &str = \"unsafe\"; const B: char = '\"'; // unsafe",
    );
    passes("tool/src/other.rs", "const A: &str = r#\"unsafe\"#; fn not_unsafe() {}");
}

#[test]
fn the_list_of_unsafe_files_is_kept() {
    let list = |rows: &str| format!("<!-- unsafe: begin -->\n{rows}<!-- unsafe: end -->\n");
    let good = "| `tool/src/main.rs` | calls C |\n";
    let stale = list(&format!("{good}| `tool/src/gone.rs` | was |\n"));
    fails("ARCHITECTURE.md", &stale, "`tool/src/gone.rs` is listed but contains no `unsafe`");
    let folder = list("| `tool/src/` | calls C |\n");
    assert!(
        broken(&[("ARCHITECTURE.md", &folder), ("tool/src/c.rs", "unsafe fn f() {}")]).is_empty()
    );
    let lines = broken(&[("ARCHITECTURE.md", "nothing")]);
    assert!(lines.len() == 2 && lines[0].contains("no line"), "{lines:?}");
    let open = list(good).replace("<!-- unsafe: end -->", "");
    fails("ARCHITECTURE.md", &open, "no line");
}

#[test]
fn heap_outside_tests_fails() {
    fails(MODULAR, "extern crate alloc;", "no heap");
    fails("crates/cycloid/src/lib.rs", "extern crate std;", "no heap");
    fails(MODULAR, "fn f() -> ::std::vec::Vec<u8> { g() }", "no heap");
    fails(MODULAR, "#[cfg(test)]\nmod tests { fn f() {} }\nuse alloc::vec::Vec;", ":3: `alloc`");
    passes(MODULAR, "#[cfg(test)]\n#[allow(x)]\nmod tests { use std::vec; fn f() { std::g() } }");
    passes(MODULAR, "#[cfg(all(test, unix))]\nuse std::vec::Vec; fn f(std: u8) {}");
    passes(MODULAR, "#[cfg(test)]\nfn f(a: [u8; 2]) -> u8 { std::g() }");
    passes("crates/cycloid/src/math/tests/more.rs", "use std::vec::Vec;");
}

#[test]
fn modules_from_elsewhere_fail() {
    fails(MODULAR, "#[path = \"../../scheme/rsa.rs\"]\nmod rsa;", "`#[path]` hides");
    fails(MODULAR, "extern crate self as me;", "another name for the crate");
}

#[test]
fn unfinished_code_fails() {
    for name in ["todo", "unimplemented", "dbg"] {
        fails("tool/src/other.rs", &format!("fn f() {{ {name}!() }}"), "marks unfinished code");
    }
    passes("tool/src/other.rs", "fn todo() { let x = \"todo!\"; todo(); }");
}

#[test]
fn a_backend_without_its_twin_fails() {
    let lanes = "crates/cycloid/src/machine/lanes";
    let alone = broken(&[(&format!("{lanes}/ifma.rs"), "")]);
    assert!(alone.len() == 1 && alone[0].contains("no portable twin"), "{alone:?}");
}

#[test]
fn twins_in_files_and_folders() {
    let lanes = "crates/cycloid/src/machine/lanes";
    let path = |name: &str| format!("{lanes}/{name}");
    let alone = broken(&[(&path("portable.rs"), "")]);
    assert!(alone.len() == 1 && alone[0].contains("without a fast twin"), "{alone:?}");
    assert!(broken(&[(&path("portable.rs"), ""), (&path("ifma/mod.rs"), "")]).is_empty());
    let folders =
        [(path("portable/mod.rs"), ""), (path("ifma/mod.rs"), ""), (path("ifma/square.rs"), "")];
    let folders = folders.each_ref().map(|(path, text)| (path.as_str(), *text));
    let unequal = broken(&folders);
    assert!(unequal.len() == 1 && unequal[0].contains("no portable twin"), "{unequal:?}");
}

#[test]
fn paths_of_one_machine_fail() {
    let home = ["/ho", "me/anna/x"].concat();
    fails("docs/a.md", &format!("see {home}"), ":1: ");
    fails("docs/a.json", &format!("\n{{\"file\": \"{home}\"}}"), ":2: ");
    passes("docs/a.md", &format!("see https://example.org{home} and ~{home}"));
}
