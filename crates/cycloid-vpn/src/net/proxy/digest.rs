//! Digest authentication at an HTTP proxy.
//!
//! Source: RFC 7616; RFC 2617 for proxies without `qop`.

use aws_lc_rs::digest::{SHA256, digest};
use md5::{Digest, Md5};
use zeroize::Zeroizing;

use super::Account;

/// A proxy's challenge.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Challenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    /// Whether the proxy offers the quality `auth`.
    auth: bool,
    algorithm: Algorithm,
    /// The name of the algorithm in the challenge, which the answer repeats.
    named: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Md5,
    Sha256,
}

impl Algorithm {
    fn hex(self, text: &str) -> Zeroizing<String> {
        Zeroizing::new(match self {
            Self::Md5 => base16ct::lower::encode_string(&Md5::digest(text.as_bytes())),
            Self::Sha256 => {
                base16ct::lower::encode_string(digest(&SHA256, text.as_bytes()).as_ref())
            }
        })
    }
}

impl Challenge {
    /// Parses the value of `Proxy-Authenticate`. Returns `None` for another scheme, an unknown
    /// algorithm, or a challenge without a nonce.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("digest") {
            return None;
        }
        let mut challenge = Self {
            realm: String::new(),
            nonce: String::new(),
            opaque: None,
            auth: false,
            algorithm: Algorithm::Md5,
            named: None,
        };
        for (name, value) in parameters(rest) {
            match name.to_ascii_lowercase().as_str() {
                "realm" => challenge.realm = value,
                "nonce" => challenge.nonce = value,
                "opaque" => challenge.opaque = Some(value),
                "qop" => {
                    challenge.auth =
                        value.split(',').any(|one| one.trim().eq_ignore_ascii_case("auth"));
                }
                "algorithm" => {
                    challenge.algorithm = match value.to_ascii_lowercase().as_str() {
                        "md5" => Algorithm::Md5,
                        "sha-256" => Algorithm::Sha256,
                        _ => return None,
                    };
                    challenge.named = Some(value);
                }
                _ => {}
            }
        }
        // A control character in a repeated value would end the line of the answer.
        let repeated = [Some(&challenge.realm), Some(&challenge.nonce), challenge.opaque.as_ref()];
        let safe = repeated.into_iter().flatten().all(|it| !it.contains(char::is_control));
        (safe && !challenge.nonce.is_empty()).then_some(challenge)
    }
}

/// Returns names and values of a list `name=value, name="value"`.
fn parameters(mut rest: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    while let Some((name, behind)) = rest.split_once('=') {
        let name = name.trim_matches([' ', ',', '\t']).to_owned();
        let behind = behind.trim_start();
        let mut value = String::new();
        rest = if let Some(quoted) = behind.strip_prefix('"') {
            let mut letters = quoted.char_indices();
            let mut end = quoted.len();
            while let Some((at, letter)) = letters.next() {
                match letter {
                    '"' => {
                        end = at + 1;
                        break;
                    }
                    '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
                    letter => value.push(letter),
                }
            }
            &quoted[end..]
        } else {
            let end = behind.find(',').unwrap_or(behind.len());
            behind[..end].trim_end().clone_into(&mut value);
            &behind[end..]
        };
        all.push((name, value));
    }
    all
}

/// Returns the value of `Proxy-Authorization`.
pub(super) fn answer(
    challenge: &Challenge,
    account: &Account,
    method: &str,
    target: &str,
    client_nonce: &str,
) -> Zeroizing<String> {
    let hex = |text: &str| challenge.algorithm.hex(text);
    let Challenge { realm, nonce, .. } = challenge;
    let secret = Zeroizing::new(format!("{}:{realm}:{}", account.name, *account.password));
    let (secret, request) = (hex(&secret), hex(&format!("{method}:{target}")));
    let response = match challenge.auth {
        true => hex(&format!("{}:{nonce}:00000001:{client_nonce}:auth:{}", *secret, *request)),
        false => hex(&format!("{}:{nonce}:{}", *secret, *request)),
    };
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut text = Zeroizing::new(format!(
        "Digest username=\"{}\", realm=\"{}\", nonce=\"{}\", uri=\"{target}\", response=\"{}\"",
        quoted(&account.name),
        quoted(realm),
        quoted(nonce),
        *response
    ));
    if challenge.auth {
        text.push_str(&format!(", qop=auth, nc=00000001, cnonce=\"{client_nonce}\""));
    }
    if let Some(name) = &challenge.named {
        text.push_str(&format!(", algorithm={name}"));
    }
    if let Some(opaque) = &challenge.opaque {
        text.push_str(&format!(", opaque=\"{}\"", quoted(opaque)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(name: &str, password: &str) -> Account {
        Account { name: name.to_owned(), password: Zeroizing::new(password.to_owned()) }
    }

    /// The examples of RFC 7616, 3.9.1, whose request is a GET.
    #[test]
    fn answers_of_the_standard() {
        for (algorithm, response) in [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ] {
            let challenge = format!(
                "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", \
                 algorithm={algorithm}, nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", \
                 opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
            );
            let challenge = Challenge::parse(&challenge).unwrap();
            let client = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
            let account = account("Mufasa", "Circle of Life");
            let text = answer(&challenge, &account, "GET", "/dir/index.html", client);
            assert!(text.contains(&format!("response=\"{response}\"")), "{}", *text);
            assert!(text.ends_with("opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""));
        }
    }

    #[test]
    fn challenges_of_all_kinds() {
        let parse = Challenge::parse;
        let plain = parse("digest realm=\"a \\\"b\\\"\",nonce=abc").unwrap();
        assert_eq!((plain.realm.as_str(), plain.nonce.as_str()), ("a \"b\"", "abc"));
        assert!(!plain.auth && plain.named.is_none());
        for text in [
            "Basic realm=\"x\"",
            "Digest",
            "Digest realm=\"x\"",
            "Digest nonce=\"x\", algorithm=SHA-512-256",
            "Digest nonce=\"a\tb\"",
            "Digest nonce=",
            "Digest =,\"",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse("Digest nonce=\"open").unwrap().nonce, "open");
    }
}
