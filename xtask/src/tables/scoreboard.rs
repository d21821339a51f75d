//! Draws the scoreboard, the picture in README: the library beside the best peer of each row.

use std::fmt::Write;

use serde_json::Value;

use super::records::{self, is_peer, proportion, record, rows, table};

/// The picture.
pub(super) const PATH: &str = "docs/scoreboard.svg";

/// A row: its name, a record below docs/results, the title of a table, and the labels of the
/// library's single operation and of one of eight in parallel.
type Row = (&'static str, &'static str, &'static str, &'static str, Option<&'static str>);

const ROWS: [Row; 25] = [
    ("RSA-2048 sign", "rsa", "RSA-2048: sign, PKCS #1 v1.5, SHA-256", "default", EIGHT),
    ("RSA-4096 sign", "rsa", "RSA-4096: sign, PKCS #1 v1.5, SHA-256", "default", EIGHT),
    ("RSA-2048 verify", "rsa", "RSA-2048: verify, PKCS #1 v1.5, SHA-256", "default", EIGHT),
    ("ffdhe2048 agree", "dh", "ffdhe2048: shared secret", "default", EIGHT),
    ("2048-bit power", "modexp", "2048-bit modulus, 2048-bit exponent", "default", EIGHT),
    ("P-256 sign", "ec", "P-256: sign", "default", EIGHT),
    ("P-256 verify", "ec", "P-256: verify", "default", EIGHT),
    ("P-256 agree", "ec", "P-256: agree", "default", EIGHT),
    ("P-384 sign", "ec", "P-384: sign", "default", EIGHT),
    ("P-384 verify", "ec", "P-384: verify", "default", EIGHT),
    ("P-384 agree", "ec", "P-384: agree", "default", EIGHT),
    ("P-521 sign", "ec", "P-521: sign", "default", EIGHT),
    ("P-521 agree", "ec", "P-521: agree", "default", EIGHT),
    ("Ed25519 sign", "ec", "Ed25519: sign", "default", EIGHT),
    ("Ed25519 verify", "ec", "Ed25519: verify", "default", EIGHT),
    ("X25519 agree", "ec", "X25519: agree", "default", EIGHT),
    ("BLS12-381 pairing", "bls", "pairing: pairing", "cycloid", None),
    ("BLS12-381 multiply in G1", "bls", "g1: multiply", "cycloid", None),
    ("BLS12-381 hash to G1", "bls", "g1: hash to curve", "cycloid", None),
    ("BLS12-381 sign", "bls", "signature: sign, small keys", "cycloid", None),
    ("BLS12-381 verify", "bls", "signature: verify, small keys", "cycloid", None),
    ("TLS 1.3 handshake", "tls", "TLS 1.3: X25519, ECDSA P-256", "default", None),
    ("HSM, RSA-2048, 16 clients", "hsm", "RSA-2048: 16 clients", "daemon", None),
    ("HSM, P-256, 1 client", "hsm", "P-256: 1 client", "daemon", None),
    (
        "VPN tunnel over UDP",
        "vpn",
        "tunnels over UDP, client to server",
        "Cycloid at both ends",
        None,
    ),
];

const EIGHT: Option<&str> = Some("×8");

/// Widths and heights in pixels.
const NAMES: f64 = 190.0;
const PLOT: f64 = 430.0;
const WIDTH: f64 = NAMES + PLOT + 60.0;
const LINE: f64 = 22.0;
const TOP: f64 = 44.0;

/// The ends of the scale, which is logarithmic.
const SCALE: [f64; 2] = [0.5, 16.0];

const STYLE: &str = "\
text{font:13px system-ui,sans-serif;fill:#1f2328}.n{text-anchor:end}.s{font-size:11px}\
.o{fill:#0b6e4f}.e{fill:#7cc6a4}.l{stroke:#8b949e}.p{stroke:#cf222e;stroke-width:1.5}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.o{fill:#3fb68b}.e{fill:#1d5c47}}";

/// Returns the picture.
pub(super) fn picture() -> Result<String, String> {
    let height = TOP + LINE * ROWS.len() as f64 + 8.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" role=\"img\" aria-label=\"Speed relative to the \
         best peer\"><style>{STYLE}</style>\n<text x=\"{NAMES}\" y=\"14\">times as fast as the \
         best peer</text>\n\
         <rect class=\"o\" x=\"{}\" y=\"5\" width=\"12\" height=\"10\"/>\
         <text x=\"{}\" y=\"14\">one</text>\
         <rect class=\"e\" x=\"{}\" y=\"5\" width=\"12\" height=\"10\"/>\
         <text x=\"{}\" y=\"14\">eight in parallel</text>\n",
        NAMES + 220.0,
        NAMES + 236.0,
        NAMES + 275.0,
        NAMES + 291.0,
    );
    for mark in [0.5, 1.0, 2.0, 4.0, 8.0, 16.0] {
        let (x, class) = (place(mark), if mark == 1.0 { "p" } else { "l" });
        let bottom = height - 4.0;
        let _ = writeln!(
            svg,
            "<line class=\"{class}\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\" \
             stroke-opacity=\"0.5\"/><text class=\"s\" x=\"{x:.1}\" y=\"{}\" \
             text-anchor=\"middle\">{mark}</text>",
            TOP - 6.0
        );
    }
    for (i, (name, file, title, one, eight)) in ROWS.iter().enumerate() {
        let path = format!("docs/results/{file}-zen-5.json");
        let report = record(&path)?;
        let found = table(&report, title).ok_or(format!("{path} has no table `{title}`"))?;
        let lead = |label| lead(found, label).ok_or(format!("{path}: `{title}` has no {label}"));
        let y = TOP + LINE * i as f64;
        let _ = writeln!(
            svg,
            "<text class=\"n\" x=\"{}\" y=\"{}\">{name}</text>",
            NAMES - 8.0,
            y + 15.0
        );
        let one = lead(one)?;
        let eight = eight.map(lead).transpose()?;
        let mut values = proportion(one);
        let mut end = place(one);
        if let Some(eight) = eight {
            end = end.max(place(eight));
            let _ = write!(values, " / {}", proportion(eight));
            bar(&mut svg, "e", eight, y + 3.0, 16.0);
        }
        bar(&mut svg, "o", one, y + 6.0, 10.0);
        let x = end.max(place(1.0)) + 5.0;
        let _ = writeln!(svg, "<text class=\"s\" x=\"{x:.1}\" y=\"{}\">{values}</text>", y + 15.0);
    }
    Ok(svg + "</svg>\n")
}

/// Draws a bar from 1, where the best peer is.
fn bar(svg: &mut String, class: &str, lead: f64, y: f64, height: f64) {
    let (from, to) = (place(1.0).min(place(lead)), place(1.0).max(place(lead)));
    let width = to - from;
    let _ = writeln!(
        svg,
        "<rect class=\"{class}\" x=\"{from:.1}\" y=\"{y}\" width=\"{width:.1}\" \
         height=\"{height}\"/>"
    );
}

/// Returns the horizontal place of a multiple.
fn place(lead: f64) -> f64 {
    let [low, high] = SCALE.map(f64::log2);
    NAMES + PLOT * ((lead.log2() - low) / (high - low)).clamp(0.0, 1.0)
}

/// Returns how many times as fast as the best peer a row of the library is.
fn lead(table: &Value, label: &str) -> Option<f64> {
    let own = rows(table).find(|row| row["label"] == label && !is_peer(row))?;
    records::lead(table, own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lead_is_over_the_best_peer() {
        let row = |label: &str, backend: Value, median: f64| {
            serde_json::json!({"label": label, "implementation": {"backend": backend},
                               "ratio": {"median": median}})
        };
        let batch = |label: &str, backend: Value, median: f64| {
            let mut row = row(label, backend, median);
            row["operations_per_call"] = 8.into();
            row
        };
        let table = serde_json::json!({"records": [
            row("default", "adx".into(), 1.0),
            batch("×8", "ifma".into(), 0.5),
            row("sign", Value::Null, 3.0),
            row("blst", "blst".into(), 2.0),
            batch("a peer's ×8", Value::Null, 1.5),
        ]});
        assert_eq!(lead(&table, "default"), Some(2.0));
        assert_eq!(lead(&table, "×8"), Some(3.0));
        assert_eq!(lead(&table, "sign"), None);
    }

    #[test]
    fn a_peer_ahead_draws_a_bar_to_the_left() {
        let mut svg = String::new();
        bar(&mut svg, "o", 0.5, 0.0, 10.0);
        assert!(svg.contains("x=\"190.0\""), "{svg}");
    }
}
