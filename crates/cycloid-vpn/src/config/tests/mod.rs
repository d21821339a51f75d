//! Tests of real-world configuration files and of faulty ones.

mod clients;
mod errors;
mod fields;
mod hostile;
mod lenient;
mod servers;

use std::path::Path;

use super::{Client, Error, Profile, Server, Warning, parse};

/// Blocks that every client or server needs. The parser does not look at their contents.
pub(super) const BLOCKS: &str = "\
<ca>
-----BEGIN CERTIFICATE-----
authority
-----END CERTIFICATE-----
</ca>
<cert>
certificate
</cert>
<key>
private
</key>
";

pub(super) fn outcome(text: &str) -> Result<(Profile, Vec<Warning>), Error> {
    parse(Path::new("/etc/vpn/x.conf"), text.as_bytes())
}

pub(super) fn client(text: &str) -> (Client, Vec<String>) {
    match outcome(text).unwrap_or_else(|error| panic!("{error}: {}", error.hint)) {
        (Profile::Client(client), warnings) => (*client, texts(&warnings)),
        (other, _) => panic!("no client: {other:?}"),
    }
}

pub(super) fn server(text: &str) -> (Server, Vec<String>) {
    match outcome(text).unwrap_or_else(|error| panic!("{error}: {}", error.hint)) {
        (Profile::Server(server), warnings) => (*server, texts(&warnings)),
        (other, _) => panic!("no server: {other:?}"),
    }
}

fn texts(warnings: &[Warning]) -> Vec<String> {
    warnings.iter().map(ToString::to_string).collect()
}
