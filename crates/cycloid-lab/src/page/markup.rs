//! Text as it may stand in markup. Whatever comes from a record passes here: a label is never code.

use std::fmt::{self, Display, Formatter, Write};

/// Shows text so that neither an element nor a quoted attribute can end in it.
pub(super) struct Text<'a>(pub(super) &'a str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' | '\t' => f.write_char(' ')?,
                // Neither HTML nor XML has these.
                c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                    f.write_char('\u{fffd}')?;
                }
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// [`Text`], without the parentheses.
pub(super) const fn text(text: &str) -> Text<'_> {
    Text(text)
}

/// A name that may stand in `id` and behind `#`: lower-case letters, digits and hyphens.
pub(super) fn anchor(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    name.chars().map(plain).collect::<String>().trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_early() {
        let hostile = "</script><b onclick='x()'>\"&amp;\u{0}\u{1b}[1m";
        let shown = text(hostile).to_string();
        assert_eq!(
            shown,
            "&lt;/script&gt;&lt;b onclick=&#39;x()&#39;&gt;&quot;&amp;amp;\u{fffd}\u{fffd}[1m"
        );
        assert!(!shown.contains(['<', '>', '"', '\'']));
        assert_eq!(text("×8, 1 µs – done").to_string(), "×8, 1 µs – done");
    }

    #[test]
    fn anchors_are_plain() {
        assert_eq!(anchor("RSA-2048: \"x\""), "rsa-2048---x");
    }
}
