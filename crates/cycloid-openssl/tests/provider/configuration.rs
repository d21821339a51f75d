//! Configurations: what is wrong in one, `openssl list -providers` shows.

use crate::support::{Place, With, module, openssl};

/// Returns what the list says of the provider's version.
fn version(settings: &str) -> String {
    let list = Place::with_settings(settings).ok(With::Cycloid, "list -providers");
    let mut lines = list.lines().map(str::trim).skip_while(|line| *line != "name: Cycloid");
    let version = lines.find_map(|line| line.strip_prefix("version: "));
    version.unwrap_or_else(|| panic!("{list}")).to_owned()
}

#[test]
fn settings_without_effect_are_listed() {
    let number = env!("CARGO_PKG_VERSION");
    for valid in ["", "async = never", "async_wait = 1\nasync = always", "async_wait = 1000000"] {
        assert_eq!(version(valid), number, "{valid}");
    }
    for invalid in ["async = allways", "async = Never", "async_wait = 0", "async_wait = 1000001"] {
        let expected = format!("{number}, with settings that have no effect: {invalid}");
        assert_eq!(version(invalid), expected);
    }
    let both = "async = 1\nasync_wait = 5 ms";
    assert!(version(both).ends_with("no effect: async = 1, async_wait = 5 ms"));
    // The later line replaces the log of the test's configuration.
    let log = "log = /nonexistent/log";
    assert!(version(log).ends_with("no effect: log = /nonexistent/log"));
}

#[test]
fn a_program_that_is_given_the_module_says_why_it_cannot_load_it() {
    let place = Place::new();
    let missing = place.path("cyclod.so");
    let said =
        place.fails(With::Stock, &format!("list -providers -provider {}", missing.display()));
    assert!(said.contains("cannot open shared object file"), "{said}");
    place.write("no-library.so", "text");
    let text = place.path("no-library.so");
    let said = place.fails(With::Stock, &format!("list -providers -provider {}", text.display()));
    assert!(said.contains("file too short") || said.contains("invalid ELF header"), "{said}");
    let list = place.ok(With::Stock, &format!("list -providers -provider {}", module().display()));
    assert!(list.contains("name: Cycloid"), "{}: {list}", openssl());
}
