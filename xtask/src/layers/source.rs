//! Splits a Rust source into tokens with their lines, without comments and with placeholders for
//! strings.

/// A word, a `::`, a string (as `""`), or one other character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    pub(super) line: usize,
}

/// Returns the tokens of `source`.
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let (length, text) = next(rest, first);
        let (this, after) = rest.split_at(length);
        if let Some(text) = text {
            tokens.push(Token { text, line });
        }
        line += this.matches('\n').count();
        rest = after;
    }
    tokens
}

/// Returns the length of the first element of `rest`, and its text if it is a token.
fn next(rest: &str, first: char) -> (usize, Option<&str>) {
    if first.is_whitespace() {
        return (first.len_utf8(), None);
    }
    if rest.starts_with("//") {
        return (rest.find('\n').unwrap_or(rest.len()), None);
    }
    if rest.starts_with("/*") {
        return (block_comment(rest), None);
    }
    if let Some(length) = string(rest) {
        return (length, Some("\"\""));
    }
    if let Some(raw) = rest.strip_prefix("r#") {
        let length = word(raw);
        if length > 0 {
            return (2 + length, Some(&raw[..length]));
        }
    }
    if first == '\'' {
        return (character_or_lifetime(rest), None);
    }
    let length = match word(rest) {
        0 if rest.starts_with("::") => 2,
        0 => first.len_utf8(),
        length => length,
    };
    (length, Some(&rest[..length]))
}

fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// Returns the length of a block comment, including nested ones.
fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let here = &text.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// Returns the length of a string of any kind, if `text` begins with one.
fn string(text: &str) -> Option<usize> {
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|prefix| {
        let after = text.strip_prefix(prefix);
        after.is_some_and(|after| after.trim_start_matches('#').starts_with('"'))
    })?;
    let after = &text[prefix.len()..];
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = prefix.len() + hashes + 1;
    if prefix.ends_with('r') {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(text[body..].find(&end).map_or(text.len(), |at| body + at + end.len()));
    }
    if hashes > 0 {
        return None;
    }
    let mut escaped = false;
    for (at, c) in text[body..].char_indices() {
        match c {
            '"' if !escaped => return Some(body + at + 1),
            _ => escaped = c == '\\' && !escaped,
        }
    }
    Some(text.len())
}

/// Returns the length of a character literal with its quotes, or of the quote that begins a
/// lifetime.
fn character_or_lifetime(text: &str) -> usize {
    let mut inside = text[1..].chars();
    match inside.next() {
        Some('\\') => {
            // The escaped character may be a quote, so the search for the end starts after it.
            let escaped = inside.next().map_or(0, char::len_utf8);
            let behind = 2 + escaped;
            text[behind..].find('\'').map_or(text.len(), |at| behind + at + 1)
        }
        Some(c) if inside.next() == Some('\'') => 2 + c.len_utf8(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        tokens(source).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_and_strings_hold_no_words() {
        let source = "a // unsafe\nb /* unsafe /* unsafe */ unsafe */ c \"unsafe \\\" unsafe\" d";
        assert_eq!(texts(source), ["a", "b", "c", "\"\"", "d"]);
        assert_eq!(texts("r#\"unsafe \" unsafe\"# e"), ["\"\"", "e"]);
        assert_eq!(
            texts("b\"unsafe\" c\"unsafe\" br##\"unsafe\"# \"## f"),
            ["\"\"", "\"\"", "\"\"", "f"]
        );
        assert_eq!(texts("/// unsafe\n//! unsafe\ng"), ["g"]);
    }

    #[test]
    fn characters_are_not_strings_and_lifetimes_are_not_characters() {
        assert_eq!(texts("'\"' unsafe '\\'' '\\\\' x"), ["unsafe", "x"]);
        assert_eq!(texts("&'a str"), ["&", "a", "str"]);
        assert_eq!(texts("'\\u{41}' y b'x'"), ["y", "b"]);
    }

    #[test]
    fn paths_and_raw_identifiers() {
        assert_eq!(texts("crate::r#mod::x"), ["crate", "::", "mod", "::", "x"]);
    }

    #[test]
    fn lines_are_counted_through_everything() {
        let source = "a\n/* \n */ b \"\n\" c\n// x\nd";
        let lines: Vec<_> = tokens(source).into_iter().map(|token| token.line).collect();
        assert_eq!(lines, [1, 3, 3, 4, 6]);
    }
}
