//! Fuzz-like tests: arbitrary input causes at most an error.

use std::path::Path;

use proptest::prelude::*;
use rustix::time::{ClockId, clock_gettime};

use super::BLOCKS;
use crate::config::{PerClient, parse};

/// Words of directives, and some that no directive uses.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "client",
            "server",
            "remote",
            "route",
            "route-ipv6",
            "dns",
            "dhcp-option",
            "push",
            "proto",
            "port",
            "setenv",
            "opt",
            "connection",
            "<connection>",
            "</connection>",
            "<ca>",
            "</ca>",
            "key-direction",
            "mssfix",
            "server-ipv6",
            "ifconfig-pool",
            "keepalive",
            "auth-gen-token",
            "peer-fingerprint",
            "data-ciphers",
            "management",
            "10.8.0.0",
            "255.255.255.0",
            "fd00::/64",
            "0",
            "-1",
            "65536",
            "4294967296",
            "udp",
            "tcp-server",
            "\"",
            "'",
            "\\",
            "#",
            "default",
            "unix",
            "::",
            "/",
            "subnet",
            "topology",
            "local",
            "listen",
            "*",
            "up",
            "iroute",
            "é",
        ])
        .prop_map(str::to_owned),
        "[ -~]{0,12}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse(Path::new("x"), &bytes);
        let _ = PerClient::parse(Path::new("x"), &bytes);
    }

    #[test]
    fn any_words(lines in prop::collection::vec(prop::collection::vec(word(), 1..6), 0..20)) {
        let lines: Vec<String> = lines.iter().map(|words| words.join(" ")).collect();
        for head in ["", "client\nremote h\n", "server 10.8.0.0 255.255.255.0\n"] {
            let text = format!("{head}{BLOCKS}{}\n", lines.join("\n"));
            if let Err(error) = parse(Path::new("x"), text.as_bytes()) {
                prop_assert!(!error.message.is_empty() && !error.hint.is_empty());
                prop_assert!(error.line as usize <= text.lines().count());
            }
            let _ = PerClient::parse(Path::new("x"), text.as_bytes());
        }
    }
}

/// Without the total limit, a file that includes itself twice would be read 2^10 times.
#[test]
fn inclusion_is_bounded() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.conf");
    std::fs::write(&path, "setenv A b\n").unwrap();
    let name = path.display();
    let text = format!("config {name}\n").repeat(200);
    let error = parse(Path::new("y"), text.as_bytes()).unwrap_err();
    assert_eq!(error.line, 101);
}

#[test]
fn long_blocks_take_linear_time() {
    let text = "<ca>\nx\n</ca>\n".repeat(20_000);
    // CPU time of this thread, independent of other load.
    let seconds = || clock_gettime(ClockId::ThreadCPUTime).tv_sec;
    let start = seconds();
    let _ = parse(Path::new("x"), text.as_bytes());
    assert!(seconds() - start < 5);
}
