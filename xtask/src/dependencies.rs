//! Checks licences, bans and sources of all dependencies against the lists in deny.toml, and what the
//! services consist of.
//!
//! Does what `cargo deny` does without the advisory database, in a second and without installing
//! anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::process::{Failure, Outcome, cargo, output, say};

/// The services and the module, and the number of packages that each may consist of.
const SERVICES: [(&str, usize); 3] =
    [("cycloid-hsm", 130), ("cycloid-vpn", 95), ("cycloid-pkcs11", 60)];

/// The lab and its peers. No service may contain them.
const LAB_ONLY: [&str; 14] = [
    "ark-ec",
    "backtrace",
    "bls12_381",
    "blst",
    "crypto-bigint",
    "cycloid-blst",
    "cycloid-lab",
    "ed25519-dalek",
    "graviola",
    "p224",
    "p256",
    "ring",
    "rsa",
    "x25519-dalek",
];

/// The workspaces, each with its own lock file.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "xtask/no-std/Cargo.toml"];

/// Checks the dependencies of all workspaces.
pub(crate) fn run() -> Outcome {
    say("licences, bans and sources of the dependencies");
    let deny = fs::read_to_string("deny.toml")
        .map_err(|error| Failure::new(format!("cannot read deny.toml: {error}")))?;
    let allowed = strings(&deny, "licenses", "allow");
    let banned = strings(&deny, "bans", "deny");
    let sources = strings(&deny, "sources", "allow-registry");
    let mut wrong = Vec::new();
    for manifest in MANIFESTS {
        up_to_date(manifest)?;
        let tree =
            "tree --workspace --target all --all-features --locked --prefix none --no-dedupe";
        let listing =
            output(cargo(tree).args(["--format", "{p}\t{l}", "--manifest-path", manifest]))?;
        let packages = packages(&listing);
        for (name, licence) in &packages {
            if banned.iter().any(|banned| banned == name) {
                let wrappers = inline(&deny, name, "wrappers");
                let users = users(manifest, name)?;
                let unwrapped = users.iter().filter(|user| !wrappers.contains(user));
                wrong.extend(unwrapped.map(|user| format!("{manifest}: {user} uses {name}")));
            }
            let excepted = inline(&deny, name, "allow");
            if !allows(licence, &allowed) && !allows(licence, &excepted) {
                wrong.push(format!("{manifest}: {name} has the licence `{licence}`"));
            }
        }
        let lock = fs::read_to_string(manifest.replace(".toml", ".lock")).unwrap_or_default();
        wrong.extend(foreign_sources(&lock, &sources));
        eprintln!("{manifest}: {} packages", packages.len());
    }
    for (service, most) in SERVICES {
        let tree = "tree --edges normal,build --locked --prefix none --no-dedupe --package";
        let listing = output(cargo(tree).args([service, "--format", "{p}\t{l}"]))?;
        let contents = contents(&listing);
        eprintln!("{service}: {} packages", contents.len());
        wrong.extend(unsuitable(service, most, &contents));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "dependencies that deny.toml or the rules for services do not allow:\n  {}",
        wrong.join("\n  ")
    ))
    .hint("choose another crate, or change deny.toml and give the reason there"))
}

/// Parses names and versions from lines such as `serde v1.0.0 (proc-macro)<tab>MIT`.
fn contents(listing: &str) -> BTreeSet<(String, String)> {
    let words = listing.lines().map(|line| line.split([' ', '\t']));
    words.filter_map(|mut words| Some((words.next()?.into(), words.next()?.into()))).collect()
}

/// Returns what is wrong with the contents of a service: the lab, a peer, a pre-release, or too
/// many packages.
fn unsuitable(service: &str, most: usize, contents: &BTreeSet<(String, String)>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, version) in contents {
        if LAB_ONLY.contains(&name.as_str()) {
            wrong.push(format!("{service} contains {name}, which is for the lab only"));
        }
        if version.contains('-') {
            wrong.push(format!("{service} contains {name} {version}, a pre-release"));
        }
    }
    if contents.len() > most {
        wrong.push(format!("{service} has {} packages, more than {most}", contents.len()));
    }
    wrong
}

/// Returns the packages that depend on `name` directly, or the workspace if there are none.
fn users(manifest: &str, name: &str) -> Result<Vec<String>, Failure> {
    let tree = "tree --workspace --target all --all-features --locked --prefix none --depth 1";
    let listing =
        output(cargo(tree).args(["--format", "{p}\t", "--manifest-path", manifest, "-i", name]))?;
    let mut users: Vec<String> = packages(&listing).into_keys().collect();
    users.retain(|user| user != name);
    if users.is_empty() {
        users.push("the workspace".into());
    }
    Ok(users)
}

/// Fails if a manifest requires something that its lock file does not have.
fn up_to_date(manifest: &str) -> Outcome {
    let mut metadata = cargo("metadata --locked --format-version 1 --manifest-path");
    let metadata = metadata.arg(manifest).output();
    if metadata.is_ok_and(|metadata| metadata.status.success()) {
        return Ok(());
    }
    let lock = manifest.replace(".toml", ".lock");
    Err(Failure::new(format!("{lock} is out of date"))
        .hint(format!("run cargo update --workspace --manifest-path {manifest}")))
}

/// Returns the strings of the list `key` in the table `section`: `"a"`, or the name in `{ name =
/// "a" }`.
fn strings(toml: &str, section: &str, key: &str) -> Vec<String> {
    let lines = toml.lines().map(|line| line.split_once('#').map_or(line, |(code, _)| code).trim());
    let mut lines = lines.skip_while(|line| *line != format!("[{section}]")).skip(1);
    let table: Vec<&str> = lines.by_ref().take_while(|line| !is_table(line)).collect();
    let is_key = |line: &str| line.split_once('=').is_some_and(|(name, _)| name.trim() == key);
    let list: Vec<&str> = table.into_iter().skip_while(|line| !is_key(line)).collect();
    let list = list.join("\n");
    let inside = list.split_once('[').map_or("", |(_, rest)| rest);
    let inside = inside.split_once(']').map_or(inside, |(inside, _)| inside);
    let entry = |entry: &str| entry.split('"').nth(1).map(String::from);
    inside.lines().flat_map(|line| entries(line)).filter_map(entry).collect()
}

/// Returns the list `key` in a package's inline table: `wrappers`, packages that may depend on it
/// although it is banned, or `allow`, licences permitted only for this package.
fn inline(toml: &str, name: &str, key: &str) -> Vec<String> {
    let entry = toml.lines().find(|line| line.contains(&format!("{{ name = \"{name}\"")));
    let start = format!("{key} = [");
    let list = entry.and_then(|entry| entry.split_once(&*start)).map_or("", |(_, list)| list);
    let list = list.split_once(']').map_or("", |(list, _)| list);
    list.split(',').filter_map(|item| item.split('"').nth(1)).map(String::from).collect()
}

fn is_table(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(']') && !line.contains('"')
}

/// Splits a line of a list into entries: an inline table is one entry, other entries are separated
/// by commas.
fn entries(line: &str) -> Vec<&str> {
    if line.contains('{') { vec![line] } else { line.split(',').collect() }
}

/// Parses names and licences from lines such as `serde v1.0.0 (proc-macro)<tab>MIT OR Apache-2.0`.
fn packages(listing: &str) -> BTreeMap<String, String> {
    let lines = listing.lines().filter_map(|line| line.split_once('\t'));
    let package = |(package, licence): (&str, &str)| {
        let name = package.split(' ').next()?;
        Some((name.to_string(), licence.trim_end_matches("(*)").trim().to_string()))
    };
    lines.filter_map(package).collect()
}

/// Returns whether the allowed licences satisfy the licence expression.
fn allows(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    !words.is_empty() && any(&words, &mut at, allowed) && at == words.len()
}

/// Evaluates `all OR all OR …`.
fn any(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut met = all(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        met |= all(words, at, allowed);
    }
    met
}

/// Evaluates `one AND one AND …`.
fn all(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut met = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        met &= one(words, at, allowed);
    }
    met
}

/// Evaluates a licence, with its exception if it has one, or an expression in parentheses.
fn one(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let Some(word) = words.get(*at) else {
        return false;
    };
    *at += 1;
    if *word == "(" {
        let met = any(words, at, allowed);
        let closed = words.get(*at) == Some(&")");
        *at += 1;
        return met && closed;
    }
    let mut licence = word.to_string();
    if words.get(*at) == Some(&"WITH") {
        licence += &format!(" WITH {}", words.get(*at + 1).unwrap_or(&""));
        *at += 2;
    }
    allowed.contains(&licence)
}

/// Returns the sources in a lock file that are not among the registries in `allowed`.
fn foreign_sources(lock: &str, allowed: &[String]) -> Vec<String> {
    let sources = lock.lines().filter_map(|line| line.strip_prefix("source = "));
    let sources = sources.map(|source| source.trim_matches('"'));
    let foreign = sources.filter(|source| {
        !allowed.iter().any(|allowed| source.strip_prefix("registry+") == Some(allowed))
    });
    foreign.map(|source| format!("the source {source}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> Vec<String> {
        ["MIT", "Apache-2.0", "ISC", "Apache-2.0 WITH LLVM-exception"].map(String::from).into()
    }

    #[test]
    fn licence_expressions() {
        for good in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0/MIT",
            "MIT AND (Apache-2.0 OR GPL-2.0)",
            "(GPL-3.0 AND MIT) OR ISC",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
        ] {
            assert!(allows(good, &allowed()), "{good}");
        }
        for bad in
            ["", "GPL-3.0", "MIT AND GPL-3.0", "AGPL-3.0 OR GPL-3.0", "(MIT", "MIT )", "MIT WITH X"]
        {
            assert!(!allows(bad, &allowed()), "{bad}");
        }
    }

    #[test]
    fn the_lists_of_deny_toml() {
        let toml = "[licenses]\nallow = [\n \"A\", # x\n \"B\",\n]\n[bans]\nwild = \"deny\"\ndeny = [\n # why\n { name = \"rsa\", wrappers = [\"x\"] },\n]\n[sources]\nallow-registry = [\"u\"]\n";
        assert_eq!(strings(toml, "licenses", "allow"), ["A", "B"]);
        assert_eq!(strings(toml, "bans", "deny"), ["rsa"]);
        assert_eq!(inline(toml, "rsa", "wrappers"), ["x"]);
        assert!(inline(toml, "rsb", "wrappers").is_empty());
        assert_eq!(strings(toml, "sources", "allow-registry"), ["u"]);
        assert!(strings(toml, "sources", "allow-git").is_empty());
        let toml = "exceptions = [\n { name = \"a\", allow = [\"L-1.0\", \"M\"] },\n]\n";
        assert_eq!(inline(toml, "a", "allow"), ["L-1.0", "M"]);
        assert!(inline(toml, "a", "wrappers").is_empty() && inline(toml, "b", "allow").is_empty());
    }

    #[test]
    fn a_service_contains_no_peer_and_no_pre_release() {
        let listing = "a v1.0.0 (/x)\tMIT\nring v0.17.0\tISC\nb v2.0.0-rc.1 (proc-macro)\tMIT\n\
                       a v1.0.0 (/x)\tMIT\n";
        let contents = contents(listing);
        assert_eq!(contents.len(), 3);
        assert_eq!(
            unsuitable("s", 2, &contents),
            [
                "s contains b v2.0.0-rc.1, a pre-release",
                "s contains ring, which is for the lab only",
                "s has 3 packages, more than 2",
            ]
        );
        assert!(unsuitable("s", 1, &[("a".into(), "v1.0.0".into())].into()).is_empty());
    }

    #[test]
    fn packages_and_sources() {
        let listing = "cycloid v0.1.0 (/x)\tMIT OR Apache-2.0\nserde v1.0.0\tMIT (*)\n";
        let packages = packages(listing);
        assert_eq!(packages["cycloid"], "MIT OR Apache-2.0");
        assert_eq!(packages["serde"], "MIT");
        let lock = "source = \"registry+u\"\nsource = \"git+v\"\n";
        assert_eq!(foreign_sources(lock, &["u".into()]), ["the source git+v"]);
    }
}
