//! Every function and constant of blst's header exists.

/// Returns the names that the header of the crate `blst` declares, from its bindings.
fn declared() -> Vec<String> {
    let bindings = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/blst_names.txt"));
    bindings.lines().map(str::to_owned).collect()
}

#[test]
fn all_names_are_defined() {
    let sources = [
        include_str!("../src/context.rs"),
        include_str!("../src/elements.rs"),
        include_str!("../src/generators.rs"),
        include_str!("../src/groups.rs"),
        include_str!("../src/keys.rs"),
        include_str!("../src/lists.rs"),
        include_str!("../src/pairing.rs"),
        include_str!("../src/scalars.rs"),
        include_str!("../src/unique.rs"),
    ];
    let words: std::collections::HashSet<&str> = sources
        .iter()
        .flat_map(|source| source.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
        .collect();
    let names = declared();
    assert!(names.len() > 200);
    let missing: Vec<_> = names.iter().filter(|name| !words.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
