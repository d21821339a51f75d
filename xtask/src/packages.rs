//! `cargo xtask packages`: builds the Debian packages of the lab, the HSM and the VPN with
//! `cargo-deb`. With `--install` it installs them into a fresh Debian, without touching this one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{Failure, Outcome, cargo, program, run as run_program, say, works};

/// The crates of the packages, and their programs.
const PACKAGES: [(&str, &str); 3] =
    [("cycloid-cli", "cycloid"), ("cycloid-hsm", "cycloid-hsm"), ("cycloid-vpn", "cycloid-vpn")];

const PAGES: &str = "target/pages";
const OUTPUT: &str = "target/debian";
const ROOT: &str = "target/fresh-debian";

/// The oldest Debian release that is tried.
const SUITE: &str = "bookworm";

/// What an installed system is checked with. The lines run in a shell in its root.
const CHECKS: &str = r#"set -eux
cycloid --version && cycloid-hsm --version && cycloid-vpn --version
cycloid hsm --version && cycloid vpn --version
cycloid bench modexp --quick --peers none --bits 512 | grep -q 512
for page in cycloid cycloid-hsm cycloid-hsm-init cycloid-vpn cycloid-vpn-pki; do
    test -e /usr/share/man/man1/$page.1.gz
done
test -e /usr/share/bash-completion/completions/cycloid-hsm
test -e /usr/lib/systemd/system/cycloid-hsm.service
test -e /usr/lib/systemd/system/cycloid-vpn-server@.service
test "$(stat -c '%U %a' /var/lib/cycloid-hsm)" = 'cycloid-hsm 700'

# The VPN's tools.
cd /tmp
cycloid-vpn pki init && cycloid-vpn pki server gate --host vpn.example
cycloid-vpn pki client alice
cycloid-vpn check pki/alice.ovpn

# A keystore, its daemon, and a key that a PKCS #11 program uses.
printf 12345678 > pin
as() { runuser -u cycloid-hsm -- "$@"; }
export CYCLOID_HSM_HOME=/var/lib/cycloid-hsm CYCLOID_HSM_SOCKET=/tmp/hsm/socket
install -d -o cycloid-hsm -m 755 /tmp/hsm
as cycloid-hsm init --label office --officer-pin-file pin --pin-file pin
as cycloid-hsm serve &
until test -S /tmp/hsm/socket; do sleep 0.1; done
cycloid-hsm key generate p-256 --label ca --pin-file pin
pkcs11-tool --module /usr/lib/cycloid/libcycloid_pkcs11.so --login --pin 12345678 --list-objects | grep ca
p11-kit list-modules | grep -i cycloid
kill %1 && wait

# The keystore outlives the package.
apt-get purge --yes cycloid cycloid-hsm cycloid-vpn
test -e /var/lib/cycloid-hsm/keys.db
! command -v cycloid-hsm
"#;

/// Builds the packages, and with `install` also tries them.
pub(crate) fn run(install: bool) -> Outcome {
    if !works(&mut program("cargo-deb", "--version")) {
        return Err(Failure::new("cargo-deb is not installed")
            .hint("run `cargo install cargo-deb --locked`"));
    }
    for (package, name) in PACKAGES {
        let write = "run --locked --features cycloid-command/pages --package";
        let mut write = cargo(write);
        run_program(write.args([package, "--", "write-pages", &format!("{PAGES}/{name}")]))?;
    }
    run_program(&mut cargo(
        "build --release --locked -p cycloid-cli -p cycloid-hsm -p cycloid-vpn -p cycloid-pkcs11",
    ))?;
    if Path::new(OUTPUT).exists() {
        fs::remove_dir_all(OUTPUT)
            .map_err(|error| Failure::new(format!("cannot empty {OUTPUT}: {error}")))?;
    }
    for (package, _) in PACKAGES {
        let deb = "deb --no-build --locked --maintainer Cycloid --output";
        run_program(cargo(deb).args([OUTPUT, "--package", package]))?;
    }
    let entries = fs::read_dir(OUTPUT)
        .map_err(|error| Failure::new(format!("cannot read {OUTPUT}: {error}")))?;
    let packages = entries.map(|entry| fs::canonicalize(entry?.path()));
    let mut packages = packages
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| Failure::new(format!("cannot read {OUTPUT}: {error}")))?;
    packages.sort();
    say(format!("{} packages in {OUTPUT}", packages.len()));
    if install { try_out(&packages) } else { Ok(()) }
}

/// Installs the packages into a fresh Debian and uses every program once.
fn try_out(packages: &[PathBuf]) -> Outcome {
    if !works(&mut program("mmdebstrap", "--version")) {
        return Err(Failure::new("mmdebstrap is not installed")
            .hint("run `apt-get install mmdebstrap` as root"));
    }
    let mut create = program("mmdebstrap", "--variant=apt --include=opensc,p11-kit");
    create.arg("--hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount");
    for package in packages {
        create.arg(format!("--include={}", package.display()));
    }
    run_program(create.args([SUITE, ROOT]))?;
    let mut check = program("chroot", ROOT);
    let outcome = run_program(check.args(["sh", "-c", CHECKS]));
    fs::remove_dir_all(ROOT)
        .map_err(|error| Failure::new(format!("cannot remove {ROOT}: {error}")))?;
    outcome
}
