//! Checks what the services consist of, that `cycloid` shares its crates with the other programs,
//! and that the lock files fit the manifests.

use std::collections::BTreeSet;

use crate::process::{Failure, Outcome, cargo, output, say};
use crate::workspace::manifests;

/// The services and the module, and the number of packages that each may consist of.
const SERVICES: [(&str, usize); 3] =
    [("cycloid-hsm", 130), ("cycloid-vpn", 95), ("cycloid-pkcs11", 60)];

/// The lab and its peers. No service may contain them.
const LAB_ONLY: [&str; 19] = [
    "ark-ec",
    "backtrace",
    "bls12_381",
    "blst",
    "c-kzg",
    "crypto-bigint",
    "cycloid-blst",
    "cycloid-kzg",
    "cycloid-cli",
    "cycloid-lab",
    "cycloid-peers",
    "cycloid-report",
    "ed25519-dalek",
    "graviola",
    "p224",
    "p256",
    "ring",
    "rsa",
    "x25519-dalek",
];

/// Checks the lock files of all workspaces, and the contents of the services.
pub(crate) fn run() -> Outcome {
    say("dependencies of the services");
    for manifest in &manifests()? {
        up_to_date(manifest)?;
    }
    let mut wrong = compiled_twice()?;
    for (service, most) in SERVICES {
        let tree = "tree --edges normal,build --locked --prefix none --no-dedupe --package";
        let contents = contents(&output(cargo(tree).arg(service))?);
        eprintln!("{service}: {} packages", contents.len());
        wrong.extend(unsuitable(service, most, &contents));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("unsuitable dependencies:\n  {}", wrong.join("\n  ")))
        .hint("choose another crate or other features; xtask/src/dependencies.rs has the rules"))
}

/// Returns the crates of `cycloid` that `cycloid bench` would compile a second time, because they
/// have more features when the other programs are built with it.
fn compiled_twice() -> Result<Vec<String>, Failure> {
    let tree = "tree --edges normal,build --locked --prefix none --no-dedupe --package cycloid-cli";
    let others = SERVICES.iter().map(|(service, _)| *service).chain(["cycloid-peers"]);
    let others = || others.clone().flat_map(|package| ["--package", package]);
    let listing = |packages: &mut dyn Iterator<Item = &'static str>| {
        output(cargo(tree).args(["--format", "{p} {f}"]).args(packages))
    };
    let (alone, together) = (listing(&mut std::iter::empty())?, listing(&mut others())?);
    Ok(with_more_features(&alone, &together))
}

/// Returns the lines of a crate in the second listing that the first has with other features only.
fn with_more_features(alone: &str, together: &str) -> Vec<String> {
    let known: BTreeSet<&str> = alone.lines().collect();
    let names = contents(alone);
    // Empty lines separate the trees.
    let own = |line: &&str| contents(line).iter().any(|package| names.contains(package));
    let other = together.lines().filter(|line| !known.contains(line)).filter(own);
    let other: BTreeSet<&str> = other.collect();
    other.into_iter().map(|line| format!("compiled twice for `cycloid bench`: {line}")).collect()
}

/// Parses names and versions from lines such as `serde v1.0.0 (proc-macro)`.
fn contents(listing: &str) -> BTreeSet<(String, String)> {
    let words = listing.lines().map(|line| line.split(' '));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_with_more_features_is_compiled_twice() {
        let alone = "a v1.0.0 std\nb v1.0.0 (/x) \n";
        assert!(
            with_more_features(alone, "a v1.0.0 std\nb v1.0.0 (/x) \n\nc v1.0.0 x\n").is_empty()
        );
        let found = with_more_features(alone, "a v1.0.0 alloc,std\nb v1.0.0 (/x) \n");
        assert_eq!(found, ["compiled twice for `cycloid bench`: a v1.0.0 alloc,std"]);
    }

    #[test]
    fn a_service_contains_no_peer_and_no_pre_release() {
        let listing = "a v1.0.0 (/x)\nring v0.17.0\nb v2.0.0-rc.1 (proc-macro)\na v1.0.0 (/x)\n";
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
}
