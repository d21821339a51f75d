//! Escapes text for markup. All text from a record passes through here: a label never becomes code.

use std::fmt::{self, Display, Formatter, Write};

/// Displays text escaped, so that it cannot end an element or a quoted attribute.
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
                // Invalid in both HTML and XML.
                c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                    f.write_char('\u{fffd}')?;
                }
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// Wraps text in [`Text`].
pub(super) const fn text(text: &str) -> Text<'_> {
    Text(text)
}

/// Returns a name valid in `id` and after `#`: lower-case letters, digits and hyphens.
pub(super) fn anchor(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    name.chars().map(plain).collect::<String>().trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_end_an_element_or_attribute() {
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
    fn anchors_have_only_letters_digits_and_hyphens() {
        assert_eq!(anchor("RSA-2048: \"x\""), "rsa-2048---x");
    }
}
