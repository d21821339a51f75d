//! Splits a file's bytes into directives: lines, words, quotes, escapes, comments and blocks.
//!
//! Blanks separate words. `"…"` and `'…'` enclose a word with blanks. Outside of single quotes, a
//! backslash escapes a blank, a quotation mark or a backslash. `#` and `;` at the start of a word
//! begin a comment. `<name>` alone on a line opens a block, whose bytes are kept verbatim up to a
//! line that begins with `</name>`. A backslash at the end of a line is ignored. Lines end in LF or
//! CRLF. A byte order mark is ignored.
//!
//! Source: openvpn(8), "--config" and "INLINE FILE SUPPORT".

use std::path::Path;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::error::{Error, Problem};

/// The longest line outside of a block, in bytes.
pub(super) const MAX_LINE: usize = 4096;
/// The most words in a line.
const MAX_WORDS: usize = 64;

/// A directive: a line or a block.
#[derive(Clone)]
pub(super) struct Directive {
    /// The file that contains it.
    pub(super) file: Arc<Path>,
    /// Its line, or the line that opens the block, from 1.
    pub(super) line: u32,
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
    /// A word was in Latin-1.
    pub(super) latin1: bool,
    /// The lines between `<name>` and `</name>`, with their line ends.
    pub(super) block: Option<Zeroizing<Vec<u8>>>,
}

impl Directive {
    /// Returns the directive as written, without the contents of a block.
    pub(super) fn text(&self) -> String {
        if self.block.is_some() {
            return format!("<{}>", self.name);
        }
        let mut text = self.name.clone();
        for argument in &self.arguments {
            text.push(' ');
            if argument.is_empty() || argument.contains(char::is_whitespace) {
                text.push('"');
                text.push_str(argument);
                text.push('"');
            } else {
                text.push_str(argument);
            }
        }
        text
    }

    pub(super) fn error(&self, problem: Problem) -> Error {
        problem.at(&*self.file, self.line, self.text())
    }
}

/// Returns the directives of a file whose first line has the number `first`.
pub(super) fn directives(
    file: &Arc<Path>,
    first: u32,
    bytes: &[u8],
) -> Result<Vec<Directive>, Error> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    // Some programs fill files up with zero bytes, or end them with Control-Z.
    let filling = bytes.iter().rev().take_while(|byte| matches!(byte, 0 | 0x1A)).count();
    let bytes = &bytes[..bytes.len() - filling];
    if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        let problem = Problem::new("the file is UTF-16", "save it as UTF-8");
        return Err(problem.at(&**file, 0, ""));
    }
    let mut found = Vec::new();
    let (mut rest, mut line) = (bytes, first);
    while !rest.is_empty() {
        let (text, behind) = rest.split_at(line_length(rest));
        let at = line;
        (rest, line) = (behind, line.saturating_add(1));
        let (mut words, latin1) = lex(text).map_err(|problem| problem.at(&**file, at, ""))?;
        if words.is_empty() {
            continue;
        }
        let mut directive = Directive {
            file: file.clone(),
            line: at,
            name: words.remove(0),
            arguments: words,
            latin1,
            block: None,
        };
        if let Some(name) = block_name(&directive) {
            let end = format!("</{name}>");
            let mut length = 0;
            loop {
                let behind = &rest[length..];
                if behind.is_empty() {
                    return Err(directive.error(Problem::new(
                        "the block is not closed",
                        format!("add a line {end} after it"),
                    )));
                }
                let text = &behind[..line_length(behind)];
                line = line.saturating_add(1);
                if text.trim_ascii_start().starts_with(end.as_bytes()) {
                    directive.block = Some(Zeroizing::new(rest[..length].to_vec()));
                    rest = &behind[text.len()..];
                    break;
                }
                length += text.len();
            }
            directive.name = name;
        } else if let Some(name) = directive.name.strip_prefix("--") {
            directive.name = name.into();
        }
        found.push(directive);
    }
    Ok(found)
}

/// Returns the length of the first line with its line end, in bytes.
fn line_length(text: &[u8]) -> usize {
    text.iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| at + 1)
}

fn block_name(directive: &Directive) -> Option<String> {
    let name = directive.name.strip_prefix('<')?.strip_suffix('>')?;
    let opens = directive.arguments.is_empty() && !name.is_empty() && !name.starts_with('/');
    opens.then(|| name.to_owned())
}

/// Splits a line into words.
///
/// # Errors
/// A line that is too long, too many words, unclosed quotes, an unnecessary backslash, a control
/// character. Comments may contain any bytes.
pub(super) fn words(line: &[u8]) -> Result<Vec<String>, Problem> {
    lex(line).map(|(words, _)| words)
}

/// Like [`words`], and returns whether a word was in Latin-1.
fn lex(line: &[u8]) -> Result<(Vec<String>, bool), Problem> {
    if line.len() > MAX_LINE {
        return Err(Problem::new(
            format!("the line has more than {MAX_LINE} bytes"),
            "check that this is a configuration file with one directive a line",
        ));
    }
    let mut words = Vec::new();
    let mut latin1 = false;
    let end = line.iter().rposition(|byte| !b"\r\n".contains(byte)).map_or(0, |last| last + 1);
    let mut rest = &line[..end];
    loop {
        let blanks = rest.iter().position(|byte| !is_blank(*byte)).unwrap_or(rest.len());
        rest = &rest[blanks..];
        let word = match rest.first() {
            None | Some(b'#' | b';') => return Ok((words, latin1)),
            Some(b'\'') => {
                let Some(end) = rest[1..].iter().position(|byte| *byte == b'\'') else {
                    return Err(no_end('\''));
                };
                let word = rest[1..1 + end].to_vec();
                rest = &rest[end + 2..];
                word
            }
            Some(b'"') => {
                let (word, end) = unescaped(&rest[1..], |byte| byte == b'"')?;
                let end = end.ok_or_else(|| no_end('"'))?;
                rest = &rest[end + 2..];
                word
            }
            Some(_) => {
                let (word, end) = unescaped(rest, is_blank)?;
                rest = &rest[end.unwrap_or(rest.len())..];
                word
            }
        };
        if words.len() == MAX_WORDS {
            return Err(Problem::new(
                format!("the line has more than {MAX_WORDS} words"),
                "split it, or quote arguments that contain spaces",
            ));
        }
        latin1 |= str::from_utf8(&word).is_err();
        words.push(checked(word)?);
    }
}

/// Returns whether a byte separates words: the blanks of the C library, among them 0x0b.
fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

fn no_end(quote: char) -> Problem {
    Problem::new(format!("unclosed quote: {quote} is missing"), "close it on the same line")
}

/// Removes escapes up to an unescaped byte for which `ends` holds. Returns the word and the
/// position of that byte, if any.
fn unescaped(text: &[u8], ends: impl Fn(u8) -> bool) -> Result<(Vec<u8>, Option<usize>), Problem> {
    let mut word = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if byte == b'\\' {
            match text.get(at + 1) {
                Some(&next @ (b'\\' | b'"' | b' ' | b'\t')) => word.push(next),
                // OpenVPN ignores one at the end of a line.
                None => {}
                _ => {
                    return Err(Problem::new(
                        "invalid backslash escape",
                        r"write \\ for each backslash, or put the word in single quotes",
                    ));
                }
            }
            at += 2;
            continue;
        }
        if ends(byte) {
            return Ok((word, Some(at)));
        }
        word.push(byte);
        at += 1;
    }
    Ok((word, None))
}

fn checked(word: Vec<u8>) -> Result<String, Problem> {
    // Old editors write Latin-1, whose letters have the numbers of Unicode.
    let word = String::from_utf8(word)
        .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect());
    match word.chars().find(|letter| letter.is_control() && *letter != '\t') {
        Some(control) => Err(Problem::new(
            format!("control character {:#04x}", u32::from(control)),
            "remove it; most editors do not show it",
        )),
        None => Ok(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Vec<String> {
        words(line.as_bytes()).unwrap()
    }

    #[test]
    fn words_quotes_escapes_and_comments() {
        let cases: [(&str, &[&str]); 18] = [
            ("", &[]),
            ("   \t\r\n", &[]),
            ("# dev tun", &[]),
            ("  ; dev tun", &[]),
            ("dev tun\r\n", &["dev", "tun"]),
            ("dev\ttun # the device", &["dev", "tun"]),
            ("dev tun;x", &["dev", "tun;x"]),
            (r#"push "route 10.0.0.0 255.0.0.0""#, &["push", "route 10.0.0.0 255.0.0.0"]),
            (r"up 'a \ b'", &["up", r"a \ b"]),
            (r#"ca "C:\\Program Files\\ca.crt""#, &["ca", r"C:\Program Files\ca.crt"]),
            (r"ca my\ ca.crt", &["ca", "my ca.crt"]),
            (r#"x "a\"b" 'c"d'"#, &["x", "a\"b", "c\"d"]),
            (r#"x "" ''"#, &["x", "", ""]),
            (r#"x "a"b"#, &["x", "a", "b"]),
            ("x a'b", &["x", "a'b"]),
            (r"x a\", &["x", "a"]),
            ("x a\\ \r\n", &["x", "a "]),
            ("x\u{b}a\u{c}b\u{b}", &["x", "a", "b"]),
        ];
        assert_eq!(words(b"x caf\xE9").unwrap(), ["x", "caf\u{e9}"]);
        for (line, expected) in cases {
            assert_eq!(of(line), expected, "{line:?}");
        }
    }

    #[test]
    fn malformed_lines() {
        let long = format!("x {}", "a".repeat(MAX_LINE));
        let many = "x ".repeat(MAX_WORDS + 1);
        let cases: [(&[u8], &str); 7] = [
            (br#"x "a"#, "unclosed quote"),
            (b"x 'a", "unclosed quote"),
            (br"ca C:\keys", "backslash"),
            (b"x a\x07b", "0x07"),
            (b"x 'a\x0bb'", "0x0b"),
            (long.as_bytes(), "4096 bytes"),
            (many.as_bytes(), "64 words"),
        ];
        for (line, message) in cases {
            let problem = words(line).unwrap_err();
            assert!(problem.message.contains(message), "{problem:?}");
        }
        // Comments may contain any bytes.
        assert!(words(b"# \xFF caf\xE9").unwrap().is_empty());
    }

    #[test]
    fn blocks_are_kept_verbatim() {
        let text =
            b"\xEF\xBB\xBFclient\r\n<ca>\r\n# no \"comment\r\n\xFF\r\n </ca>\r\n--verb 3\r\n";
        let file: Arc<Path> = Path::new("x.ovpn").into();
        let found = directives(&file, 1, text).unwrap();
        let [client, ca, verb] = &found[..] else { panic!("{}", found.len()) };
        assert_eq!((client.name.as_str(), client.line), ("client", 1));
        assert_eq!((ca.name.as_str(), ca.line), ("ca", 2));
        assert_eq!(&ca.block.as_ref().unwrap()[..], b"# no \"comment\r\n\xFF\r\n");
        assert_eq!((verb.text().as_str(), verb.line), ("verb 3", 6));

        let error = directives(&file, 1, b"\n<key>\nsecret\n").err().unwrap();
        assert_eq!(error.line, 2);
        assert!(error.hint.contains("</key>") && !error.to_string().contains("secret"), "{error}");
        let error = directives(&file, 1, b"\xFF\xFEc\0l\0").err().unwrap();
        assert!(error.message.contains("UTF-16"), "{error}");
    }
}
