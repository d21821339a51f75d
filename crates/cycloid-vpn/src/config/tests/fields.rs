//! Every setting has an effect: its field is read outside of `config`. A directive without an
//! effect has no field, and its entry in the table says so.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Fields that `config` itself reads, for a method that the program calls.
const READ_BY_METHODS: [&str; 9] = [
    "Client.pull_filters",   // Client::verdict
    "Client.route_nopull",   // Client::verdict
    "Fragment.with_headers", // Fragment::payload
    "PerClient.push_remove", // PerClient::push_list
    "PerClient.push_reset",  // PerClient::push_list
    "Process.disable_dco",   // Process::offload
    "Process.enable_dco",    // Process::offload
    "Link.remote_port",      // the default of `remote`
    "Server.bridge",         // the text of `check`
];

/// Returns the code of the Rust files in a directory, except `config`, without comments.
fn code(directory: &Path, text: &mut String) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("config") {
            code(&path, text);
        } else if path.extension().is_some_and(|it| it == "rs") {
            for line in fs::read_to_string(&path).unwrap().lines() {
                text.push_str(line.split("//").next().unwrap_or_default());
                text.push('\n');
            }
        }
    }
}

/// Returns the public fields of the structures in a file of `config`, as `Structure.field`.
fn fields(text: &str) -> Vec<String> {
    let mut structure = "";
    let mut fields = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("pub struct ") {
            structure = rest.split([' ', '<', ';', '(']).next().unwrap_or_default();
        }
        if let Some((name, _)) = line.strip_prefix("    pub ").and_then(|it| it.split_once(": "))
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b'6')
        {
            fields.push(format!("{structure}.{name}"));
        }
    }
    fields
}

#[test]
fn every_setting_is_read_outside_of_the_configuration() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut text = String::new();
    code(&source, &mut text);
    let words: BTreeSet<&str> =
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let mut unread = BTreeSet::new();
    let mut count = 0;
    for name in [
        "client",
        "common",
        "link",
        "one_peer",
        "per_client",
        "server",
        "static_tunnel",
        "tls",
        "tunnel",
        "proxy",
    ] {
        let file = source.join("config").join(name).with_extension("rs");
        for field in fields(&fs::read_to_string(file).unwrap()) {
            count += 1;
            let (_, name) = field.split_once('.').unwrap();
            if !words.contains(name) {
                unread.insert(field);
            }
        }
    }
    assert!(count > 150, "{count}");
    let expected: BTreeSet<String> = READ_BY_METHODS.map(String::from).into();
    assert_eq!(unread, expected);
}
