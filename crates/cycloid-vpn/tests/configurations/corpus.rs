//! The corpus: forms of directives, and whole files.

use std::fs;
use std::path::{Path, PathBuf};

use base64ct::{Base64, Encoding};

const FORMS: &str = include_str!("forms.txt");

/// What the lines of a form are added to.
const BASES: [(&str, &str); 14] = [
    ("bare", ""),
    (
        "client",
        "client\ndev tun\nremote 127.0.0.1 1194\nca ca.crt\ncert client.crt\nkey client.key\n",
    ),
    (
        "client-bound",
        "client\ndev tun\nremote 127.0.0.1 1194\nca ca.crt\ncert client.crt\nkey client.key\nbind\n",
    ),
    (
        "client-ec",
        "client\ndev tun\nremote 127.0.0.1 1194\nca ca.crt\ncert client-ec.crt\nkey client-ec.key\n",
    ),
    (
        "client-ed25519",
        "client\ndev tun\nremote 127.0.0.1 1194\nca ca.crt\ncert client-ed25519.crt\nkey client-ed25519.key\n",
    ),
    ("no-ca", "client\ndev tun\nremote 127.0.0.1 1194\ncert client.crt\nkey client.key\n"),
    ("no-keys", "client\ndev tun\nremote 127.0.0.1 1194\n"),
    (
        "server",
        "dev tun\nserver 10.8.0.0 255.255.255.0\nca ca.crt\ncert server.crt\nkey server.key\ndh none\n",
    ),
    ("server-bare", "dev tun\nca ca.crt\ncert server.crt\nkey server.key\ndh none\n"),
    (
        "server-without-dh",
        "dev tun\nserver 10.8.0.0 255.255.255.0\nca ca.crt\ncert server.crt\nkey server.key\n",
    ),
    ("server-no-keys", "dev tun\nserver 10.8.0.0 255.255.255.0\ndh none\n"),
    (
        "p2p-client",
        "dev tun\ntls-client\nremote 127.0.0.1\nca ca.crt\ncert client.crt\nkey client.key\n",
    ),
    ("p2p-server", "dev tun\ntls-server\nca ca.crt\ncert server.crt\nkey server.key\ndh none\n"),
    ("static", "dev tun\nifconfig 10.4.0.1 10.4.0.2\n"),
];

/// A configuration file.
pub(crate) struct Case {
    /// The line of `forms.txt`, or the name of the file.
    pub(crate) name: String,
    pub(crate) text: Vec<u8>,
}

/// Returns all cases. `materials` is the directory of the files that inline blocks contain.
pub(crate) fn cases(materials: &Path) -> Vec<Case> {
    let forms = FORMS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let forms = forms.map(|line| {
        let (base, lines) = line.split_once(" | ").expect("base | lines");
        let base = BASES.iter().find(|it| it.0 == base).unwrap_or_else(|| panic!("{base}")).1;
        // A form replaces the base's line of the same directive.
        let lines: Vec<&str> = lines.split(" && ").collect();
        let mut text = String::new();
        for line in base.lines() {
            let same = |it: &&&str| name(it) == name(line) && name(line) != "client";
            if lines.iter().find(same).is_none() {
                text.push_str(line);
                text.push('\n');
            }
        }
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        Case { name: line.to_owned(), text: text.into_bytes() }
    });
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory().join("files")).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    let files = files.into_iter().map(|path| Case {
        name: path.file_name().unwrap().to_str().unwrap().to_owned(),
        text: expanded(&fs::read(&path).unwrap(), materials),
    });
    forms.chain(files).collect()
}

/// The directory of this test.
pub(crate) fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/configurations")
}

fn name(line: &str) -> &str {
    line.trim_start_matches("--").split_whitespace().next().unwrap_or_default()
}

/// Replaces lines `@FILE` by the file's contents, and `@base64:FILE` by its Base64.
fn expanded(text: &[u8], materials: &Path) -> Vec<u8> {
    let mut expanded = Vec::new();
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let Some(name) = line.strip_prefix(b"@") else {
            expanded.extend_from_slice(line);
            continue;
        };
        let name = str::from_utf8(name).unwrap().trim_end();
        let end: &[u8] = if line.ends_with(b"\r\n") { b"\r\n" } else { b"\n" };
        let contents = match name.strip_prefix("base64:") {
            None => fs::read_to_string(materials.join(name)).unwrap(),
            Some(name) => {
                let text = Base64::encode_string(&fs::read(materials.join(name)).unwrap());
                let lines = text.as_bytes().chunks(64);
                lines.map(|line| str::from_utf8(line).unwrap().to_owned() + "\n").collect()
            }
        };
        for line in contents.lines() {
            expanded.extend_from_slice(line.as_bytes());
            expanded.extend_from_slice(end);
        }
    }
    expanded
}
