//! TLS handshakes of rustls: the description of the suite. The crate `cycloid-peers` measures it.

use super::descriptor::Descriptor;
use crate::peers::Family;

/// The description of the suite.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "tls",
    title: "TLS handshakes",
    about: "TLS: full handshakes of rustls on Cycloid, on AWS-LC and on ring",
    examples: "",
    family: Family::Tls,
    options: &[],
    constructors: None,
    repeat: |_| Vec::new(),
};
