//! The reference of directives, `docs/vpn/directives.md`, from the table; and a check that it has
//! every directive of OpenVPN.

use std::fmt::Write;
use std::path::Path;

use super::{Action, Entry, all};
use crate::config::place;

/// Names of the options in OpenVPN 2.6's help and manual page, one a line.
const OPENVPN: &str = include_str!("openvpn-2.6.txt");

/// Options of OpenVPN's command line that are not directives: other commands of `cycloid-vpn`
/// replace them.
const COMMANDS: &[&str] = &[
    "help",
    "version",
    "show-ciphers",
    "show-digests",
    "show-engines",
    "show-tls",
    "show-curves",
    "show-groups",
    "show-gateway",
    "show-pkcs11-ids",
    "show-valid-subnets",
    "show-net",
    "show-adapters",
    "genkey",
    "test-crypto",
];

const HEAD: &str = "# Directives

The directives of configuration files, by name, and their effect. An ignored directive causes one \
warning. A refused one is an error with its reason. An unknown one is an error, unless \
`ignore-unknown-option` names it. Places: a client's or a server's file, a `<connection>` block, \
the settings of a single client (a file of `client-config-dir`, or the output of \
`client-connect`), and the options that a server pushes.

This page is made from the program's table of directives; a test keeps it up to date.

| directive | effect | places | arguments |
|---|---|---|---|
";

fn reference() -> String {
    let mut entries: Vec<&Entry> = all().collect();
    entries.sort_by_key(|entry| entry.name);
    let mut page = HEAD.to_owned();
    for entry in entries {
        let effect = match (entry.name, entry.action) {
            // The reader handles these before the table.
            ("connection", _) => "used: a block".to_owned(),
            ("config", _) => "used: includes a file".to_owned(),
            ("chroot" | "tls-export-cert", Action::Use(_))
            | ("management-client" | "management-query-remote", Action::Use(_)) => {
                "refused at the start, with a reason and the next step".to_owned()
            }
            ("daemon", Action::Use(_)) => {
                "ignored, with a warning: the program stays in the foreground".to_owned()
            }
            ("dh", Action::Use(_)) => {
                "ignored, with a warning unless it is `dh none`: key agreement always uses \
                 ephemeral elliptic curve keys"
                    .to_owned()
            }
            (_, Action::Use(_)) => entry.effect.unwrap_or("used").to_owned(),
            (_, Action::Ignore(reason)) => format!("ignored: {reason}"),
            (_, Action::Refuse { reason, hint }) => format!("refused: {reason}; {hint}"),
        };
        let places = [
            (place::CLIENT, "client"),
            (place::SERVER, "server"),
            (place::CONNECTION, "connection"),
            (place::PER_CLIENT, "single client"),
            (place::PUSHED, "pushed"),
        ];
        let places: Vec<&str> =
            places.iter().filter(|it| entry.place & it.0 != 0).map(|it| it.1).collect();
        let arguments = match entry.arguments {
            (_, usize::MAX) => String::new(),
            (least, most) if least == most => least.to_string(),
            (least, most) => format!("{least} to {most}"),
        };
        let block = match entry.action {
            Action::Use(_) if entry.block => ", or a block",
            _ => "",
        };
        let effect = effect.replace('|', "\\|").replace('<', "\\<");
        writeln!(
            page,
            "| `{}` | {effect} | {} | {arguments}{block} |",
            entry.name,
            places.join(", ")
        )
        .expect("a string takes all");
    }
    page
}

/// Set `CYCLOID_WRITE_REFERENCE=1` to write the page.
#[test]
fn the_reference_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/vpn/directives.md");
    if std::env::var_os("CYCLOID_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, reference()).unwrap();
    }
    let page = std::fs::read_to_string(&path).expect("docs/vpn/directives.md");
    assert!(page == reference(), "run this test with CYCLOID_WRITE_REFERENCE=1");
}

#[test]
fn every_directive_of_openvpn_is_known() {
    let known = |name: &&str| COMMANDS.contains(name) || all().any(|entry| entry.name == *name);
    let missing: Vec<&str> = OPENVPN.lines().filter(|name| !known(name)).collect();
    assert_eq!(missing, [""; 0]);
    assert!(OPENVPN.lines().count() > 200);
}
