//! System packages that the tests need, and their installation on Debian.

use std::path::Path;

use crate::process::{Failure, Outcome, program, run, say};

/// A requirement of the tests, and the Debian package that provides it.
struct Need {
    what: &'static str,
    package: &'static str,
    present: fn() -> bool,
}

const NEEDS: [Need; 34] = [
    Need { what: "a C compiler", package: "gcc libc6-dev", present: || works("cc") },
    Need { what: "a C++ compiler, for libFuzzer", package: "g++", present: || works("c++") },
    Need {
        what: "valgrind, for counting instructions",
        package: "valgrind",
        present: || works("valgrind"),
    },
    Need {
        what: "the command `openssl`, for key files",
        package: "openssl",
        present: || succeeds("openssl", "version"),
    },
    Need { what: "curl, for OpenSSL's provider", package: "curl", present: || works("curl") },
    Need {
        what: "nginx, for OpenSSL's provider",
        package: "nginx-light",
        present: || starts("nginx"),
    },
    Need {
        what: "HAProxy, for OpenSSL's provider",
        package: "haproxy",
        present: || starts("haproxy"),
    },
    Need {
        what: "Python, for OpenSSL's provider",
        package: "python3",
        present: || works("python3"),
    },
    Need {
        what: "virtual environments of Python, for the Python binding",
        package: "python3-venv",
        present: || succeeds("python3", "-m ensurepip --version"),
    },
    Need {
        what: "the command `ssh-keygen`, for signatures",
        package: "openssh-client",
        present: || starts("ssh-keygen"),
    },
    Need {
        what: "libcrypto.so.3, a peer",
        package: "libssl3",
        present: || library("libcrypto.so.3"),
    },
    Need {
        what: "mirage-crypto and a compiler for OCaml, a peer",
        package: "libmirage-crypto-ocaml-dev ocaml-findlib ocaml-nox",
        present: || succeeds("ocamlfind", "query mirage-crypto-ec"),
    },
    Need { what: "dune, for the OCaml binding", package: "ocaml-dune", present: || works("dune") },
    Need {
        what: "pkg-config, for libcycloid",
        package: "pkg-config",
        present: || works("pkg-config"),
    },
    Need { what: "PostgreSQL, for keystores on it", package: "postgresql", present: postgresql },
    Need {
        what: "OpenSSL's engine for PKCS #11, for the HSM's module",
        package: "libengine-pkcs11-openssl",
        present: engine,
    },
    Need {
        what: "`pkcs11-tool`, for the HSM's module",
        package: "opensc",
        present: || starts("pkcs11-tool"),
    },
    Need {
        what: "`p11tool` and `certtool`, for the HSM's module",
        package: "gnutls-bin",
        present: || starts("p11tool") && starts("certtool"),
    },
    Need {
        what: "Java's `keytool`, `jar` and `jarsigner`, for the HSM's module",
        package: "default-jdk-headless",
        present: || starts("keytool") && starts("jar") && starts("jarsigner"),
    },
    Need {
        what: "`ldns-signzone`, for the HSM's module",
        package: "ldnsutils",
        present: || starts("ldns-signzone"),
    },
    Need {
        what: "BIND's `dnssec-verify`, for zones signed with the HSM",
        package: "bind9-utils",
        present: || starts("dnssec-verify"),
    },
    Need {
        what: "OpenDNSSEC's HSM tools, for the HSM's module",
        package: "libhsm-bin",
        present: || starts("ods-hsmutil") && starts("ods-hsmspeed"),
    },
    Need {
        what: "SoftHSM, for the VPN's keys in a token",
        package: "softhsm2",
        present: || starts("softhsm2-util"),
    },
    Need {
        what: "OpenVPN, for interoperability tests",
        package: "openvpn",
        present: || starts("openvpn"),
    },
    Need {
        what: "wireguard-go and `wg`, a peer",
        package: "wireguard-go wireguard-tools",
        present: || works("wireguard-go") && works("wg"),
    },
    Need { what: "`ip`, for network namespaces", package: "iproute2", present: || starts("ip") },
    Need { what: "`ping`, for tunnels", package: "iputils-ping", present: || starts("ping") },
    Need { what: "iperf3, for load in tunnels", package: "iperf3", present: || works("iperf3") },
    Need { what: "`nft`, for the kill switch", package: "nftables", present: || starts("nft") },
    Need {
        what: "Chromium, for testing the page of `cycloid report`",
        package: "chromium",
        present: || works("chromium"),
    },
    Need {
        what: "qemu-system-arm, for the kernels for Cortex-M4",
        package: "qemu-system-arm",
        present: || works("qemu-system-arm"),
    },
    Need {
        what: "qemu-aarch64, for the kernels for AArch64",
        package: "qemu-user",
        present: || works("qemu-aarch64"),
    },
    Need {
        what: "a linker for AArch64",
        package: "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
        present: || works("aarch64-linux-gnu-gcc"),
    },
    Need { what: "libgmp.so.10, a peer", package: "libgmp10", present: || library("libgmp.so.10") },
];

/// Installs what is missing if this is Debian and the user is root; otherwise reports it.
pub(crate) fn set_up() -> Outcome {
    let missing = missing();
    if missing.is_empty() {
        say("all system packages for the tests are installed");
        return Ok(());
    }
    for need in &missing {
        say(format!("missing: {} (package {})", need.what, need.package));
    }
    let packages = missing.iter().map(|need| need.package).collect::<Vec<_>>().join(" ");
    if !Path::new("/etc/debian_version").exists() {
        let names = missing.iter().map(|need| need.what).collect::<Vec<_>>().join("; ");
        return Err(Failure::new(format!("missing on this system: {names}"))
            .hint(format!("on Debian, install {packages}")));
    }
    let install = format!("install --yes --no-install-recommends {packages}");
    if !is_root() {
        return Err(Failure::new("packages for the tests are missing")
            .hint(format!("sudo apt-get update && sudo apt-get {install}")));
    }
    let apt = |arguments: &str| {
        let mut apt = program("apt-get", arguments);
        run(apt.env("DEBIAN_FRONTEND", "noninteractive").stdin(std::process::Stdio::null()))
    };
    apt("update")?;
    apt(&install)?;
    match self::missing().first() {
        None => Ok(()),
        Some(need) => Err(Failure::new(format!("still missing after installation: {}", need.what))
            .hint(format!("see the output of apt-get about {}", need.package))),
    }
}

fn missing() -> Vec<&'static Need> {
    NEEDS.iter().filter(|need| !(need.present)()).collect()
}

fn works(name: &str) -> bool {
    succeeds(name, "--version")
}

/// Returns whether a program exists that has no option common to all its versions.
fn starts(name: &str) -> bool {
    program(name, "-V").output().is_ok()
}

fn succeeds(name: &str, arguments: &str) -> bool {
    crate::process::works(&mut program(name, arguments))
}

/// Returns whether the loader finds a shared library of that name.
fn library(name: &str) -> bool {
    let listed = ["ldconfig", "/sbin/ldconfig"].into_iter().any(|ldconfig| {
        let output = program(ldconfig, "-p").output();
        output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(name))
    });
    let folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/lib/x86_64-linux-gnu"];
    listed || folders.into_iter().any(|folder| Path::new(folder).join(name).exists())
}

/// Returns whether OpenSSL finds the engine `pkcs11`.
fn engine() -> bool {
    program("openssl", "version -e").output().is_ok_and(|output| {
        let said = String::from_utf8_lossy(&output.stdout);
        said.split('"').nth(1).is_some_and(|folder| Path::new(folder).join("pkcs11.so").exists())
    })
}

/// Returns whether a PostgreSQL server is installed; Debian does not put it on the path.
fn postgresql() -> bool {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    works("postgres")
        || versions.into_iter().any(|folder| folder.path().join("bin/initdb").exists())
}

fn is_root() -> bool {
    program("id", "-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
