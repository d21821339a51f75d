//! Splits a line into words as the configuration does: blanks separate words, `"…"` and `'…'`
//! enclose a word with blanks, and outside of single quotes a backslash escapes a blank, a
//! quotation mark or a backslash.
//!
//! Source: management-notes.txt, "Command Parsing".

use std::fmt;

/// The error for a line that cannot be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// An unclosed quotation mark.
    Open(char),
    /// A trailing backslash.
    Backslash,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open('"') => f.write_str("No closing quotation (\")"),
            Self::Open(_) => f.write_str("No closing single quotation (\')"),
            Self::Backslash => f.write_str("Residual parse state (backslash)"),
        }
    }
}

impl std::error::Error for Unreadable {}

/// Splits a line into words.
///
/// # Errors
///
/// See [`Unreadable`].
pub fn words(line: &str) -> Result<Vec<String>, Unreadable> {
    let mut words = Vec::new();
    // Full capacity from the start: growing would leave copies of a password in memory.
    let empty = || String::with_capacity(line.len());
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('\''), c) => word.get_or_insert_with(empty).push(c),
            (_, '\\') => {
                let next = characters.next().ok_or(Unreadable::Backslash)?;
                let word = word.get_or_insert_with(empty);
                if !next.is_whitespace() && !"\\\"'".contains(next) {
                    word.push('\\');
                }
                word.push(next);
            }
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_with(empty);
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_with(empty).push(c),
        }
    }
    match quote {
        Some(open) => Err(Unreadable::Open(open)),
        None => {
            words.extend(word);
            Ok(words)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes() {
        for (line, expected) in [
            ("", &[][..]),
            ("  state  on\tall ", &["state", "on", "all"]),
            (r#"password "Private Key" "foo\"bar""#, &["password", "Private Key", "foo\"bar"]),
            (r"a\ b c\\d '\n' ''", &["a b", r"c\d", r"\n", ""]),
            (r#"ab"c d"e"#, &["abc de"]),
            (r"C:\dir", &[r"C:\dir"]),
        ] {
            assert_eq!(words(line).unwrap(), expected, "{line}");
        }
        assert_eq!(words("username \"x"), Err(Unreadable::Open('"')));
        assert_eq!(words("it's"), Err(Unreadable::Open('\'')));
        assert_eq!(words("x\\"), Err(Unreadable::Backslash));
    }
}
