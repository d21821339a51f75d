//! The text of a configuration file: parsing gives settings, or an error with the line and a hint.
#![no_main]

use std::path::Path;

use cycloid_vpn::config::{PerClient, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    // Other files are not read: their content is not under the fuzzer's control.
    if text.windows(6).any(|word| word.eq_ignore_ascii_case(b"config")) {
        return;
    }
    let lines = text.iter().filter(|byte| **byte == b'\n').count() + 1;
    let _ = PerClient::parse(Path::new("x"), text);
    if let Err(error) = parse(Path::new("x"), text) {
        assert!(!error.message.is_empty() && !error.hint.is_empty());
        assert!(error.line as usize <= lines, "line {} of {lines}", error.line);
    }
});
