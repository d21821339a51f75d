//! Small trees in a temporary folder, each with one violation.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{rules, tree};
use crate::workspace::{Dependency, Package};

const CT: &str = "crates/cycloid/src/machine/ct.rs";
const MODULAR: &str = "crates/cycloid/src/math/modular/mod.rs";

/// A tree that obeys every rule, before a change is applied.
const SOUND: [(&str, &str); 19] = [
    (
        "ARCHITECTURE.md",
        "# A\n\
         <!-- layers: begin -->\n\
         | `crates/cycloid/src/lib.rs` | `machine` | `math` | `scheme` |\n\
         | `tool/src/main.rs` | `low` · `aside` | `high` |\n\
         <!-- layers: end -->\n\
         <!-- crates: begin -->\n\
         | `cycloid` | | |\n\
         | `tool` | `cycloid` | `helper`, `other` |\n\
         <!-- crates: end -->\n\
         <!-- unsafe: begin -->\n| `tool/src/main.rs` | calls C |\n<!-- unsafe: end -->\n",
    ),
    (
        "tool/src/main.rs",
        "mod other; mod low; mod aside; mod high; mod above;\n\
         pub use high::{High, Re, deep}; fn main() { unsafe { call() } }",
    ),
    ("tool/src/low.rs", "pub struct Low;"),
    ("tool/src/aside.rs", "pub fn f() {}"),
    ("tool/src/high/mod.rs", "pub mod deep; pub(crate) use deep::Deep as Re; pub struct High;"),
    ("tool/src/high/deep.rs", "use super::High; pub struct Deep; type T = crate::low::Low;"),
    (
        "crates/cycloid/src/lib.rs",
        "#[cfg(test)]\nextern crate std;\npub mod machine;\nmod math;\nmod scheme;\n\
         pub use math::modular;\n",
    ),
    ("crates/cycloid/src/machine/mod.rs", "pub mod ct;\npub mod words;"),
    (CT, "fn f() { unsafe { g() } }"),
    ("crates/cycloid/src/machine/words/mod.rs", "mod adx; mod portable;"),
    ("crates/cycloid/src/machine/words/portable.rs", "use super::super::ct;"),
    ("crates/cycloid/src/machine/words/adx.rs", "use crate::machine::ct::f;"),
    (
        "crates/cycloid/src/math/mod.rs",
        "use crate::machine::words; use super::machine;\n#[cfg(test)]\nmod tests;\npub mod modular;",
    ),
    ("crates/cycloid/src/math/tests.rs", "mod more;\nuse std::vec::Vec; use super::modular;"),
    (MODULAR, ""),
    ("crates/cycloid/src/scheme/mod.rs", "mod dh; mod rsa;"),
    ("crates/cycloid/src/scheme/dh.rs", ""),
    ("tool/src/other.rs", ""),
    ("tool/src/above.rs", "use crate::high::High; use crate::other as o;"),
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
    let used = |name: &str, test| Dependency { name: name.into(), test };
    let package = |name: &str, root: &str, dependencies: &[Dependency]| Package {
        name: name.into(),
        roots: vec![root.into()],
        dependencies: dependencies.into(),
        published: true,
        rust_version: None,
    };
    let tool = [used("cycloid", false), used("helper", true), used("other", true)];
    let packages = [
        package("cycloid", "crates/cycloid/src/lib.rs", &[]),
        package("tool", "tool/src/main.rs", &tool),
    ];
    rules::check(&files, &packages).unwrap().iter().map(ToString::to_string).collect()
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

#[test]
fn the_valid_tree_passes() {
    assert!(broken(&[]).is_empty(), "{:?}", broken(&[]));
}

#[test]
fn imports_up_a_floor_fail() {
    fails(CT, "use crate::math::modular;", "goes up or aside, from machine to math");
    fails(CT, "use crate::scheme::rsa;", "goes up or aside, from machine to scheme");
    fails(MODULAR, "use crate::scheme::{rsa as r};", "goes up or aside, from math to scheme");
    fails(CT, "use super::super::math;", "goes up or aside, from machine to math");
    fails(CT, "fn f() { crate::math::g::<u8>() }", "goes up");
    fails(CT, "fn f() -> super::super::math::T { g() }", "goes up");
    fails(CT, "use crate::{machine::words, math};", "goes up");
    fails(CT, "mod inner { use super::super::super::math::x; }", "goes up");
    fails(CT, "macro_rules! m { () => { $crate::math::x() } }", "goes up");
    fails(CT, "/* a */ use\n  crate // b\n  ::math;", ":3: `crate::math` goes up");
}

#[test]
fn re_exports_and_aliases_hide_no_import() {
    fails(CT, "use crate::modular;", "from machine to math");
    fails(CT, "use super::super::*; type T = modular::X;", "`modular::X` goes up");
    fails(MODULAR, "use crate as root; type T = root::scheme::X;", "from math to scheme");
    fails("tool/src/low.rs", "fn f() -> crate::High { g() }", "from low to high");
}

#[test]
fn layers_of_other_crates_are_kept() {
    fails("tool/src/low.rs", "use crate::high::High;", "from low to high");
    fails("tool/src/low.rs", "#[arg(with = crate::high::f)]\nstruct S;", "from low to high");
    fails("tool/src/low.rs", "fn f() { println!(\"{}\", crate::high::C) }", "from low to high");
    fails("tool/src/low.rs", "use crate::aside;", "goes up or aside, from low to aside");
    fails("tool/src/high/deep.rs", "use crate::above::f;", "from high to above");
    passes("tool/src/low.rs", "#[cfg(test)]\nmod tests { use crate::high::High; }");
}

#[test]
fn crates_depend_on_what_the_list_says() {
    let changed = |from: &str, to: &str| SOUND[0].1.replace(from, to);
    let complaints = |text: &str| broken(&[("ARCHITECTURE.md", text)]);
    let lines = complaints(&changed("`tool` | `cycloid` |", "`tool` | |"));
    assert!(lines.len() == 1 && lines[0].contains("tool may not use cycloid"), "{lines:?}");
    let lines = complaints(&changed("`helper`, ", "`gone`, `helper`, "));
    assert!(lines.len() == 1 && lines[0].contains("tool does not use gone for tests"), "{lines:?}");
    let lines = complaints(&changed("| `cycloid` | | |\n", ""));
    assert!(
        lines.len() == 1 && lines[0].contains("the list of crates lacks `cycloid`"),
        "{lines:?}"
    );
}

#[test]
fn import_cycles_are_listed_by_file() {
    let cycle = broken(&[
        ("tool/src/above.rs", "mod inner;\nfn f() -> crate::other::X { g() }"),
        ("tool/src/above/inner.rs", "/// A comment: `use crate::high;`\npub struct Inner;"),
        ("tool/src/other.rs", "pub use crate::high;\nmod step;"),
        ("tool/src/other/step.rs", "use crate::above::inner::{self as i, Inner};"),
    ]);
    assert!(cycle.is_empty(), "{cycle:?}");
    let cycle = broken(&[
        ("tool/src/above.rs", "mod inner;\npub use inner::Inner;"),
        ("tool/src/above/inner.rs", "pub struct Inner;\nfn f() { vec![crate::other::x()] }"),
        ("tool/src/other.rs", "mod step;\nuse step::s;\npub fn x() { s() }"),
        ("tool/src/other/step.rs", "use crate::above::*;\npub fn s() -> Inner { Inner }"),
    ]);
    let expected = "\n  tool/src/other.rs:2 names `step::s`, in tool/src/other/step.rs\
                    \n  tool/src/other/step.rs:2 names `Inner`, in tool/src/above/inner.rs\
                    \n  tool/src/above/inner.rs:2 names `crate::other::x`, in tool/src/other.rs";
    assert!(cycle.len() == 1 && cycle[0].contains(expected), "{cycle:#?}");
}

#[test]
fn a_module_and_its_children_may_use_each_other() {
    let tie = [
        ("tool/src/above.rs", "mod a; mod b; use a::A; pub struct X;"),
        ("tool/src/above/a.rs", "use super::{X, b::B}; pub struct A;"),
        ("tool/src/above/b.rs", "use super::X; pub struct B;"),
    ];
    assert!(broken(&tie).is_empty(), "{:?}", broken(&tie));
    let [above, a, _] = tie;
    let cycle = broken(&[above, a, ("tool/src/above/b.rs", "pub type B = super::a::A;")]);
    assert!(cycle.len() == 1 && cycle[0].contains("import cycle"), "{cycle:?}");
}

#[test]
fn tests_and_bodies_of_macros_make_no_cycle() {
    passes("tool/src/other.rs", "#[cfg(test)]\nmod tests { use crate::above::f; }");
    passes("tool/src/other.rs", "#[cfg(all(test, unix))]\nfn f() -> crate::above::T { g() }");
    passes("tool/src/other.rs", "macro_rules! m { () => { $crate::above::f() } }");
    passes("tool/src/other.rs", "/* crate::above */ const A: &str = \"crate::above::f()\";");
    let cycle = broken(&[("tool/src/other.rs", "#[cfg(not(test))]\nuse crate::above::f;")]);
    assert!(cycle.len() == 1 && cycle[0].contains("import cycle"), "{cycle:?}");
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
    let changed = |from: &str, to: &str| SOUND[0].1.replace(from, to);
    let good = "| `tool/src/main.rs` | calls C |\n";
    let stale = changed(good, &format!("{good}| `tool/src/gone.rs` | was |\n"));
    fails("ARCHITECTURE.md", &stale, "`tool/src/gone.rs` is listed but contains no `unsafe`");
    let folder = changed(good, "| `tool/src/` | calls C |\n");
    assert!(
        broken(&[("ARCHITECTURE.md", &folder), ("tool/src/other.rs", "unsafe fn f() {}")])
            .is_empty()
    );
    let open = changed("<!-- unsafe: end -->", "");
    assert!(broken(&[("ARCHITECTURE.md", &open)]).iter().any(|line| line.contains("no line")));
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
    fails(MODULAR, "fn f() { vec![alloc::g()] }", "no heap");
    let feature = "#[cfg(feature = \"alloc\")]\n";
    passes("crates/cycloid/src/lib.rs", &format!("{feature}extern crate alloc;"));
    passes(MODULAR, &format!("{feature}mod keys {{ use alloc::vec::Vec; }}"));
    passes(MODULAR, &format!("{feature}use alloc::vec::Vec; fn f(std: u8) {{}}"));
    fails(MODULAR, &format!("{feature}mod keys {{}}\nuse alloc::vec::Vec;"), "no heap");
    fails(MODULAR, &format!("{feature}use std::vec::Vec;"), "no heap");
    let other = "#[cfg(any(test, feature = \"alloc\"))]\nuse alloc::vec::Vec;";
    fails(MODULAR, other, "no heap");
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
    assert!(broken(&[(&path("portable.rs"), ""), (&path("x86_64/ifma.rs"), "")]).is_empty());
    assert!(broken(&[(&path("x86_64/ifma.rs"), "")])[0].contains("no portable twin"));
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

#[test]
fn files_outside_of_a_published_package_fail() {
    let other = "tool/src/other.rs";
    fails(
        other,
        "const A: &str = include_str!(\"../../a.txt\");",
        "`../../a.txt` is not in the package",
    );
    fails(
        other,
        "macro_rules! m { ($n:tt) => { include_str!(concat!(\"../../\", $n)) } }",
        "`../../`",
    );
    let moved = [(other, "#[path = \"../../b/x.rs\"] mod x;"), ("b/x.rs", "")];
    assert_eq!(
        broken(&moved),
        ["b/x.rs:1: `b/x.rs` is not in the package, so it is not published"]
    );
    passes(other, "const A: &str = include_str!(\"../a.txt\");");
    passes(other, "#[cfg(test)] mod tests { const A: &str = include_str!(\"../../a.txt\"); }");
}
