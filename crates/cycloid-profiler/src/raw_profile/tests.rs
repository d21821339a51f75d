use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const EXAMPLE: &str = "\
cycloid samples 1
title cycloid hsm serve
process 1234
wall 10000123456
processor 2000123456
hertz 997
lost 3
handler 1234567
file 1000 9000 2000 123456:1700000000 /usr/bin/a program
file 9000 a000 0 - [vdso]
stack 12 1010 1abc 0
stack 1 ffffffffffffffff
end
";

fn parse(text: &str) -> Result<RawProfile, Malformed> {
    RawProfile::parse(text)
}

#[test]
fn the_example_has_its_values_and_its_text() {
    let profile = parse(EXAMPLE).unwrap();
    assert_eq!(profile.title, "cycloid hsm serve");
    assert_eq!((profile.process, profile.hertz, profile.lost), (1234, 997, 3));
    assert_eq!(profile.wall, Duration::new(10, 123_456));
    assert_eq!(profile.processor, Duration::new(2, 123_456));
    assert_eq!(profile.handler, Duration::from_nanos(1_234_567));
    let identity = Some(Identity { bytes: 123_456, modified: 1_700_000_000 });
    let program = MappedFile {
        start: 0x1000,
        end: 0x9000,
        offset: 0x2000,
        identity,
        path: "/usr/bin/a program".into(),
    };
    assert_eq!(profile.files[0], program);
    assert_eq!(profile.files[1].identity, None);
    let stack = RawStack { addresses: vec![0x1010, 0x1abc, 0], samples: 12 };
    assert_eq!(profile.stacks[0], stack);
    assert_eq!(profile.stacks[1].addresses, [u64::MAX]);
    assert_eq!(profile.to_string(), EXAMPLE);
}

/// Replaces a line of the example.
fn with(line: &str, other: &str) -> String {
    assert!(EXAMPLE.contains(line), "{line}");
    EXAMPLE.replacen(line, other, 1)
}

#[test]
fn violations_are_reported_with_their_line() {
    let long_title = format!("title {}", "x".repeat(TITLE_LIMIT + 1));
    let long_path = format!("file 9000 a000 0 - /{}", "x".repeat(PATH_LIMIT));
    let deep = format!("stack 1{}", " 1".repeat(DEPTH + 1));
    for (line, number, others) in [
        ("cycloid samples 1", 1, &["", "cycloid samples 2", "cycloid samples 1 "][..]),
        ("title cycloid hsm serve", 2, &["title ", "title", "title a\tb", &long_title]),
        ("process 1234", 3, &["process -1", "process 4294967296", "process 01", "process", ""]),
        ("wall 10000123456", 4, &["wall 1.5", "wall +1", "wall 18446744073709551616", "wall  1"]),
        ("processor 2000123456", 5, &["processor ", "wall 1"]),
        ("hertz 997", 6, &["hertz 997 ", "hertz x"]),
        ("lost 3", 7, &["lost -3"]),
        ("handler 1234567", 8, &["handler"]),
        (
            "file 9000 a000 0 - [vdso]",
            10,
            &[
                "file 8fff a000 0 - [vdso]",
                "file 9000 9000 0 - [vdso]",
                "file 9000 A000 0 - [vdso]",
                "file 9000 0xa000 0 - [vdso]",
                "file 9000 a000 ffffffffffffffff - [vdso]",
                "file 9000 a000 0 -",
                "file 9000 a000 0 - ",
                "file 9000 a000 0 1 [vdso]",
                "file 9000 a000 0 1: [vdso]",
                &long_path,
                "more",
            ],
        ),
        (
            "stack 12 1010 1abc 0",
            11,
            &[
                "stack 12",
                "stack 12 ",
                "stack 0 1010",
                "stack 12 1010 ",
                "stack 12 1010  0",
                "stack x 1010",
                "stack 12 10000000000000000",
                &deep,
            ],
        ),
        // Together with the lost samples, this exceeds 64 bits.
        ("stack 12 1010 1abc 0", 11, &["stack 18446744073709551613 1010"]),
        ("end\n", 13, &["", "end", "end ", "file a000 b000 0 - x\nend\n"]),
        ("end\n", 14, &["end\n\n", "end\nend\n"]),
    ] {
        for other in others {
            let error = parse(&with(line, other)).expect_err(other);
            assert_eq!(error.line, number, "{other:?}: {error}");
        }
    }
    let deepest = format!("stack 1{}", " 1".repeat(DEPTH));
    assert!(parse(&with("stack 1 ffffffffffffffff", &deepest)).is_ok());
}

#[test]
fn a_text_that_was_cut_off_is_rejected_everywhere() {
    for length in 0..EXAMPLE.len() {
        assert!(parse(&EXAMPLE[..length]).is_err(), "{length}");
    }
}

#[test]
fn a_text_beyond_the_limit_is_rejected() {
    let mut text = EXAMPLE.strip_suffix("end\n").unwrap().to_owned();
    let line = "stack 1 1\n";
    while text.len() + line.len() + "end\n".len() <= TEXT_LIMIT {
        text.push_str(line);
    }
    assert!(parse(&format!("{text}end\n")).is_ok());
    let error = parse(&format!("{text}{line}end\n")).unwrap_err();
    assert_eq!(error.expected, "at most 64 MiB of text");
}

fn profiles() -> impl Strategy<Value = RawProfile> {
    let identity = prop::option::of((any::<u64>(), any::<u64>()));
    let file = (1..u64::from(u32::MAX), 0..1_u64 << 62, identity, "[^\\pC\n]{1,40}");
    let stack = (vec(any::<u64>(), 1..DEPTH + 1), 1..1_u64 << 40);
    let nanoseconds = || any::<u64>().prop_map(Duration::from_nanos);
    let numbers = (any::<u32>(), any::<u32>(), 0..1_u64 << 40);
    let times = (nanoseconds(), nanoseconds(), nanoseconds());
    ("[^\\pC\n]{1,200}", numbers, times, vec(file, 0..8), vec(stack, 0..20)).prop_map(
        |(title, (process, hertz, lost), (wall, processor, handler), files, stacks)| {
            let mut next = 0;
            let files = files.into_iter().map(|(length, offset, identity, path)| {
                let start = next;
                next += length;
                let identity = identity.map(|(bytes, modified)| Identity { bytes, modified });
                MappedFile { start, end: next, offset, identity, path }
            });
            let files = files.collect();
            let stacks = stacks.into_iter();
            let stacks = stacks.map(|(addresses, samples)| RawStack { addresses, samples });
            let stacks = stacks.collect();
            RawProfile { title, process, wall, processor, hertz, lost, handler, files, stacks }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_profile_survives_its_text(profile in profiles()) {
        prop_assert_eq!(parse(&profile.to_string()), Ok(profile));
    }

    /// Every accepted text has one spelling: parsing and writing returns the same text.
    #[test]
    fn a_changed_text_is_rejected_or_canonical(
        at in 0..EXAMPLE.len(),
        length in 0..12_usize,
        other in "[ -~\n]{0,12}",
    ) {
        let end = (at + length).min(EXAMPLE.len());
        let text = format!("{}{other}{}", &EXAMPLE[..at], &EXAMPLE[end..]);
        if let Ok(profile) = parse(&text) {
            prop_assert_eq!(profile.to_string(), text);
        }
    }

    #[test]
    fn any_text_is_parsed_without_a_panic(text in ".{0,200}") {
        let _ = parse(&text);
        let _ = parse(&format!("{FIRST_LINE}\n{text}"));
    }
}
