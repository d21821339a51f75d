//! The whole page, made of the committed records and of hostile ones.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroU64;
use std::path::Path;

use base64ct::{Base64, Encoding};
use roxmltree::{Document, Node, ParsingOptions};
use sha2::{Digest, Sha256};

use super::{SCRIPT, STYLE, Source, html};
use cycloid_lab::record::{Record, Report};

/// Reads all committed records.
fn committed() -> Vec<Source> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let of_path = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = fs::read_to_string(path).ok()?;
        if name.ends_with(".json") { Source::record(name, &text).ok() } else { None }
    };
    let sources: Vec<Source> = paths.iter().filter_map(of_path).collect();
    assert!(sources.len() >= 11, "{} records", sources.len());
    sources
}

/// Parses the page as a tree, without style and script, which are not XML.
fn parsed(page: &str, look: impl FnOnce(&Document<'_>)) {
    let bare = page.replacen(STYLE, "", 1).replacen(SCRIPT, "", 1);
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    look(&Document::parse_with_options(&bare, options).unwrap());
}

fn named<'a, 'input>(
    document: &'a Document<'input>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    document.descendants().filter(move |node| node.has_tag_name(name))
}

#[test]
fn the_page_of_all_committed_records_is_self_contained() {
    let page = html(&committed());
    assert!(page.len() < 1 << 20, "{} bytes", page.len());
    for foreign in ["url(", "@import", "@font-face", "http:", "https:", "fetch", "XMLHttp"] {
        assert!(!STYLE.contains(foreign) && !SCRIPT.contains(foreign), "{foreign}");
    }
    parsed(&page, |document| {
        for element in document.descendants() {
            for attribute in element.attributes() {
                let (name, value) = (attribute.name(), attribute.value());
                assert!(!value.contains("://"), "{name}={value}");
                let is_reference =
                    ["src", "href", "data", "action", "poster", "srcset"].contains(&name);
                assert!(!is_reference || value.starts_with('#'), "{name}={value}");
                assert!(!name.starts_with("on"), "{name}={value}");
            }
            for foreign in
                ["img", "link", "iframe", "object", "embed", "video", "audio", "form", "use"]
            {
                assert!(!element.has_tag_name(foreign), "{foreign}");
            }
        }
        let hash = Base64::encode_string(&Sha256::digest(SCRIPT.as_bytes()));
        let policy = named(document, "meta").find_map(|meta| {
            let is_policy = meta.attribute("http-equiv") == Some("Content-Security-Policy");
            is_policy.then(|| meta.attribute("content").unwrap())
        });
        let policy: Vec<&str> = policy.unwrap().split("; ").collect();
        assert!(policy.contains(&"default-src 'none'"));
        assert!(policy.contains(&&*format!("script-src 'sha256-{hash}'")));
        assert_eq!(named(document, "script").count(), 1);
    });
}

#[test]
fn the_page_is_accessible_to_screen_readers_and_without_colour() {
    parsed(&html(&committed()), |document| {
        let ids: Vec<&str> =
            document.descendants().filter_map(|node| node.attribute("id")).collect();
        let distinct: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), distinct.len());
        for link in named(document, "a") {
            let target = link.attribute("href").unwrap().strip_prefix('#').unwrap();
            assert!(distinct.contains(target), "{target}");
        }
        for head in named(document, "th") {
            assert!(matches!(head.attribute("scope"), Some("col" | "row")));
        }
        for table in named(document, "table") {
            let columns = named(document, "tr").find(|row| row.ancestors().any(|a| a == table));
            let columns = columns.unwrap().children().count();
            for row in table.descendants().filter(|node| node.has_tag_name("tr")) {
                assert_eq!(row.children().filter(Node::is_element).count(), columns);
            }
        }
        let mut pictures = 0;
        for svg in named(document, "svg") {
            if svg.attribute("aria-hidden").is_some() {
                continue;
            }
            let first: Vec<_> = svg.children().take(2).collect();
            assert!(first[0].has_tag_name("title") && !first[0].text().unwrap().is_empty());
            assert!(first[1].has_tag_name("desc") && !first[1].text().unwrap().is_empty());
            pictures += 1;
        }
        assert!(pictures > 30, "{pictures}");
        // Heading levels increase by one at a time.
        let mut level = 0;
        for node in document.descendants() {
            let heading = ["h1", "h2", "h3", "h4"].iter().position(|name| node.has_tag_name(*name));
            if let Some(heading) = heading {
                assert!(heading <= level + 1, "{:?}", node.text());
                level = heading;
            }
        }
        assert_eq!(named(document, "h1").count(), 1);
    });
}

#[test]
fn each_question_has_its_plot() {
    let page = html(&committed());
    for question in [
        "Which strategy is worth its memory?",
        "How many operations per second, compared with the peers?",
        "What does a batch gain?",
        "What does each point cost in a large sum?",
        "What happens under load?",
        "Where time is spent",
    ] {
        assert!(page.contains(question), "{question}");
    }
    // One front for each size, and one of the constant-time strategies.
    assert_eq!(page.matches("<path class=\"l c7\"").count(), 5);
    assert_eq!(page.matches("<path class=\"l c7 d\"").count(), 5);
    // The page does not depend on order or clock.
    assert!(html(&committed()) == page);
}

#[test]
fn a_batch_of_a_peer_is_plotted_as_one() {
    let page = html(&[source("ec", &record("ec-zen-5.json"))]);
    let marks = || page.split("<title>").skip(1).map(|rest| rest.split('<').next().unwrap());
    let of = |start: &str| marks().filter(|title| title.starts_with(start)).count();
    // crypto_mb has no single operations.
    assert!(of("crypto-mb ×8 ") >= 10, "{}", of("crypto-mb ×8 "));
    assert_eq!(of("crypto-mb "), of("crypto-mb ×8 "));
}

/// Reads a committed record, by its path below docs/results.
fn record(name: &str) -> Report {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results").join(name);
    Report::from_json(&fs::read_to_string(path).unwrap(), name).unwrap()
}

fn source(name: &str, report: &Report) -> Source {
    Source::record(name, &serde_json::to_string(report).unwrap()).unwrap()
}

#[test]
fn the_first_plot_is_near_the_top_and_nothing_is_wider_than_a_telephone() {
    let page = html(&committed());
    let body = page.split("<body>").nth(1).unwrap();
    let picture = body.find("role=\"img\"").unwrap();
    assert!(picture < body.find("<table").unwrap());
    // A line of a telephone has about 40 characters; folded text does not count.
    let (head, folded) = body[..picture].split_once("<details>").unwrap();
    let shown = head.to_owned() + folded.split_once("</details>").unwrap().1;
    let text: usize =
        shown.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text.len()).sum();
    assert!(text < 600, "{text} characters before the first plot");

    // The style of narrow screens, and of all.
    for property in ["width: ", "minmax(min(100%, "] {
        for value in STYLE.split(property).skip(1) {
            let number: String =
                value.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
            let (Ok(number), unit) = (number.parse::<f64>(), &value[number.len()..]) else {
                continue;
            };
            let pixels = if unit.starts_with("rem") { number * 16.0 } else { number };
            let is_bound = unit.starts_with('%') || property.starts_with("minmax");
            let before = STYLE.split(value).next().unwrap();
            let is_most = before.ends_with("max-width: ");
            assert!(pixels <= 360.0 || is_bound || is_most, "{property}{number}");
        }
    }
    // Tables scroll in their own boxes, and pictures shrink.
    let tables = page.split("<table class=\"").skip(1);
    assert_eq!(tables.clone().count(), page.matches("<div class=\"scroll\"").count());
    // Every column of words has its rule, except for the first one, whose cells are heads.
    let places = tables.flat_map(|table| table.split('"').next().unwrap().split(' '));
    for place in places.filter(|place| *place != "w1") {
        let rule = format!(".{place} td:nth-child({})", &place[1..]);
        assert!(STYLE.contains(&rule), "{rule}");
    }
    assert!(STYLE.contains(".scroll { overflow-x: auto;"));
    assert!(STYLE.contains(".picture svg { display: block; width: 100%;"));
    assert!(!page.contains("<svg width"));
}

#[test]
fn the_course_of_the_runs_is_plotted_like_with_like() {
    let question = "What changed from run to run?";
    let mut first = record("ec-zen-5.json");
    first.tables.retain(|table| table.group == "P-256");
    assert!(!html(&[source("first", &first)]).contains(question));
    // A later run has fewer peers, and our batches take a quarter more time.
    let mut second = first.clone();
    second.environment.date = "2999-01-01T00:00:00Z".into();
    for table in &mut second.tables {
        table.records.retain(|record| !matches!(&*record.group, "OpenSSL" | "graviola"));
        let ours = |record: &&mut Record| record.group == "Cycloid" && record.label == "×8";
        for record in table.records.iter_mut().filter(ours) {
            record.ratio.median *= 1.25;
        }
    }
    let page = html(&[source("first", &first), source("second", &second)]);
    let figure = page.split(question).nth(1).unwrap().split("</figure>").next().unwrap();
    // Two runs, each with the middle and the highest row.
    assert_eq!(figure.matches("<path class=\"m").count(), 4, "{figure}");
    assert_eq!(figure.matches(" rows +0.0 % to +25.0 %, highest ").count(), 3, "{figure}");
    // The middle row stays on its line; the highest mark lies above it.
    let heights = |class: &str| -> Vec<f64> {
        let start = format!("<path class=\"{class}\" d=\"M");
        let marks = figure.split(&start).skip(1);
        let place = |mark: &str| mark.split(['m', ' ']).nth(1).unwrap().parse().unwrap();
        marks.map(place).collect()
    };
    let (middle, highest) = (heights("m c0"), heights("m c0 h"));
    assert!(middle[0] == middle[1] && highest[0] == middle[0], "{middle:?} {highest:?}");
    assert!(highest[1] < middle[1] - 50.0, "{middle:?} {highest:?}");
    // Runs that the history has already do not count twice.
    let mut run = crate::history::Entry::of(&first, Some("c1".into()));
    run.tables.truncate(1);
    let history = Source::history("h", &run.line()).unwrap();
    let again = html(&[source("first", &first), source("second", &second), history]);
    let figure = again.split(question).nth(1).unwrap().split("</figure>").next().unwrap();
    assert!(figure.contains(" c1: ") && figure.matches("<path class=\"m").count() == 4);
}

#[test]
fn processors_are_side_by_side() {
    let (one, other) = (record("ec-zen-5.json"), record("cascade-lake/ec-cascade-lake.json"));
    let alone = html(&[source("one", &one)]);
    assert!(!alone.contains("class=\"processors\"") && alone.contains(">ratio</th>"));
    let page = html(&[source("one", &one), source("other", &other)]);
    let names = ["AMD EPYC", "Intel Xeon Processor 2.50GHz"];
    let figure =
        page.split("class=\"processors\"").nth(1).unwrap().split("</figure>").next().unwrap();
    for name in names {
        assert!(figure.contains(&format!("<h4>{name}</h4>")), "{name}");
        assert!(page.contains(&format!(">ratio, {name}</th>")), "{name}");
    }
    parsed(&page, |document| {
        let table = named(document, "table").find(|table| {
            named_in(*table, "caption").any(|node| node.text() == Some("Operations per second"))
        });
        let table = table.unwrap();
        let heads: Vec<&str> = named_in(table, "th").filter_map(|node| node.text()).collect();
        let ratio = heads.iter().position(|head| *head == "ratio, AMD EPYC").unwrap();
        let row = named_in(table, "tr")
            .find(|row| row.first_child().unwrap().text() == Some("P-256 sign"))
            .unwrap();
        let cells: Vec<&str> = row.children().filter_map(|cell| cell.text()).collect();
        // Each processor's own best peer is in its column.
        for (place, report) in [&one, &other].into_iter().enumerate() {
            let table = report.tables.iter().find(|table| table.title() == "P-256: sign").unwrap();
            let is_peer =
                |r: &&Record| r.group != "Cycloid" && r.constant_time && r.operations_per_call == 1;
            let peers = table.records.iter().filter(is_peer);
            let best = peers.map(|r| r.ratio.median).fold(f64::INFINITY, f64::min);
            assert_eq!(cells[ratio + place], crate::tables::number::proportion(best));
        }
    });
}

fn named_in<'a, 'input>(
    node: Node<'a, 'input>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    node.descendants().filter(move |node| node.has_tag_name(name))
}

#[test]
fn the_page_shows_the_numbers_of_the_record() {
    let sources = committed();
    let page = html(&sources);
    for report in sources.iter().filter_map(Source::report) {
        for table in &report.tables {
            for record in &table.records {
                let rate = super::table::per_second(record.time.operations_per_second);
                assert!(page.contains(&format!("<td>{rate}</td>")), "{}: {rate}", record.label);
            }
        }
    }
}

#[test]
fn a_record_cannot_become_code() {
    const HOSTILE: &str = "</script><img src=x onerror=\"alert(1)\">'&lt;]]>\u{1}: </title><b>";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    for name in ["modexp-zen-5.json", "hsm-zen-5.json", "hsm-sign-zen-5.json"] {
        let old = fs::read_to_string(folder.join(name)).unwrap();
        // A profile has no other format.
        let new = Report::from_json(&old, name).ok();
        let new = new.map(|report| serde_json::to_string(&report).unwrap());
        for text in std::iter::once(old).chain(new) {
            let mut value = serde_json::from_str(&text).unwrap();
            poison(&mut value, HOSTILE);
            let source = Source::record(HOSTILE, &value.to_string()).unwrap();
            assert_harmless(&html(&[source]));
        }
    }
}

fn assert_harmless(page: &str) {
    assert_eq!(page.matches("</script>").count(), 1);
    parsed(page, |document| {
        assert_eq!(named(document, "script").count(), 1);
        assert!(named(document, "img").next().is_none() && named(document, "b").next().is_none());
        let mut attributes = document.descendants().flat_map(|node| node.attributes());
        assert!(attributes.all(|attribute| attribute.name() != "onerror"));
    });
}

/// Replaces every free text of a record with `text`.
fn poison(value: &mut serde_json::Value, text: &str) {
    match value {
        serde_json::Value::Object(object) => {
            for (key, value) in object.iter_mut() {
                match value.as_str() {
                    // These must be known words.
                    Some(_) if matches!(&**key, "statistic" | "summary" | "method") => {}
                    Some(old) => *value = format!("{text}{old}").into(),
                    None => poison(value, text),
                }
            }
        }
        serde_json::Value::Array(values) => {
            values.iter_mut().for_each(|value| match value.as_str() {
                Some(_) => *value = text.into(),
                None => poison(value, text),
            });
        }
        _ => {}
    }
}

#[test]
fn empty_records_and_impossible_numbers_make_pages() {
    let whole = html(&[]);
    assert!(whole.contains("<h1>"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    let text = fs::read_to_string(folder.join("hsm-zen-5.json")).unwrap();
    for number in ["0", "-1", "1e308", "1e-308"] {
        let mut value = serde_json::from_str(&text).unwrap();
        spoil(&mut value, &serde_json::from_str(number).unwrap());
        assert_finite(&html(&[Source::record("spoilt", &value.to_string()).unwrap()]));
    }
}

/// Asserts that every line and mark has a place.
fn assert_finite(page: &str) {
    parsed(page, |document| {
        for path in named(document, "path") {
            let path = path.attribute("d").unwrap();
            assert!(!path.contains("NaN") && !path.contains("inf"), "{path}");
        }
    });
}

#[test]
fn impossible_sizes_make_pages() {
    let mut report = record("bls-zen-5.json");
    report.tables.retain(|table| table.series.is_some());
    for (table, size) in report.tables.iter_mut().zip([1, u64::MAX].into_iter().cycle()) {
        table.series.as_mut().unwrap().size = NonZeroU64::new(size).unwrap();
    }
    let page = html(&[source("sizes", &report)]);
    assert!(page.contains("What does each point cost in a large sum?"));
    assert_finite(&page);
}

/// Replaces every free number of a record with `number`.
fn spoil(value: &mut serde_json::Value, number: &serde_json::Value) {
    match value {
        serde_json::Value::Object(object) => object.values_mut().for_each(|v| spoil(v, number)),
        serde_json::Value::Array(values) => values.iter_mut().for_each(|v| spoil(v, number)),
        serde_json::Value::Number(old) if old.is_f64() => *value = number.clone(),
        _ => {}
    }
}

/// Returns the colours of a block of custom properties.
fn colours(block: &str) -> Vec<(&str, [f64; 3])> {
    let properties = block.split("--").skip(1).filter_map(|property| property.split_once(": #"));
    properties
        .map(|(name, value)| {
            let digits = value.split(';').next().unwrap();
            let of = |i: usize| match digits.len() {
                3 => u8::from_str_radix(&digits[i..=i].repeat(2), 16).unwrap(),
                _ => u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap(),
            };
            (name, [0, 1, 2].map(|i| f64::from(of(i)) / 255.0))
        })
        .collect()
}

/// Returns the contrast of two colours by WCAG 2.2, "contrast ratio".
fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let luminance = |colour: [f64; 3]| {
        let linear =
            |c: f64| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
        0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2])
    };
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn text_contrasts_with_its_background() {
    let blocks: Vec<&str> =
        STYLE.split(":root {").skip(1).map(|b| b.split('}').next().unwrap()).collect();
    assert_eq!(blocks.len(), 3);
    for block in blocks {
        let colours = colours(block);
        let colour = |wanted: &str| colours.iter().find(|(name, _)| *name == wanted).unwrap().1;
        // Names of lines have the colours of their marks, so these must be readable as text.
        let on_paper = ["ink", "quiet", "link", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"];
        for (text, under) in on_paper
            .map(|text| (text, "paper"))
            .into_iter()
            .chain([("ink", "box"), ("quiet", "box")])
            .chain(["f0", "f1", "f2", "f3", "f4"].map(|bar| ("ink", bar)))
        {
            let contrast = contrast(colour(text), colour(under));
            assert!(contrast >= 4.5, "{text} on {under}: {contrast:.2}");
        }
    }
}

#[test]
fn optional_fields_are_shown_where_present() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    let text = fs::read_to_string(folder.join("hsm-zen-5.json")).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let question = "What does a tunnel carry, and at what cost?";
    assert!(!html(&[Source::record("r", &text).unwrap()]).contains(question));
    let record = &mut value["tables"][0]["records"][1];
    record["tunnel"] = serde_json::json!({
        "megabits_per_second": 4321.5,
        "server_seconds_per_gigabyte": 1.5,
        "client_seconds_per_gigabyte": 1.25,
    });
    let count = serde_json::json!({ "count": 54_321.0, "range": [5e4, 6e4], "runs": 4, "code_bytes": 12_352 });
    record["instructions"] = serde_json::json!({ "adx": count });
    // One end is ours, so the row is not a peer's, and ours has no peer.
    record["implementation"]["library"] = "Cycloid and SoftHSM".into();
    let page = html(&[Source::record("r", &value.to_string()).unwrap()]);
    assert!(page.contains(question));
    assert!(page.contains("4,322 Mb/s, 1.5 s per gigabyte at the server, 1.25 s at the client"));
    let beside = page.split("Compared with the best peer</h3>").nth(1).unwrap();
    let beside = beside.split("</table>").next().unwrap();
    assert!(beside.contains("RSA-2048 2 clients") && !beside.contains("RSA-2048 1 client<"));
    for (column, number) in [("instructions, ADX", "54,321"), ("code B, ADX", "12,352")] {
        assert!(page.contains(&format!(">{column}</th>")), "{column}");
        assert!(page.contains(&format!("<td>{number}</td>")), "{number}");
    }
    assert!(page.contains(" --instructions"));
}

#[test]
fn commands_repeat_the_recorded_parameters() {
    let page = html(&committed());
    for command in [
        "bench modexp --bits 1024,1536,2048,3072,4096",
        "bench modexp --bits 2048",
        "bench rsa --bits 2048,3072,4096 --operation generate --full --peers aws-lc<",
        "bench rsa --bits 4096 --operation batch --peers none<",
        "bench dh --bits 3072",
        "bench ec --curve p-256",
        "bench tls",
        "bench bls --part pairing --peers arkworks,c-kzg,gnark-crypto,mcl,vroom,zkcrypto<",
        "bench hsm --key rsa-2048<",
        "bench hsm --key p-256 --clients 1 --full --peers none<",
    ] {
        assert!(page.contains(&format!("<code>cargo run --release -- {command}")), "{command}");
    }
}
