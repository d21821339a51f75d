//! Text messages of the control channel, exchanged inside TLS after the key exchange.
//!
//! A message is a word, usually a comma and arguments, and a final zero byte.
//!
//! Source: draft-openvpn-wire-protocol, "Control channel messages"; openvpn(8), `--auth-gen-token`
//! and `--push`; OpenVPN's management interface notes, on challenges.

use std::time::Duration;

use super::Error;

/// A received message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// A client requests its options.
    PushRequest,
    /// A server's options, for [`PushParser`](super::push::PushParser).
    PushReply(&'a str),
    /// An update of a server's options, for [`UpdateParser`](super::push::UpdateParser).
    PushUpdate(&'a str),
    /// A server refuses the client.
    AuthFailed {
        /// The reason for the user; a challenge if it starts with `CRV1:`. May be empty.
        reason: &'a str,
        /// The advice to try the same credentials again; `None` if they will not work later.
        retry: Option<Retry>,
    },
    /// A server waits for something, usually an action by the user.
    AuthPending {
        /// Keywords; [`pending_timeout`] reads one of them.
        text: &'a str,
    },
    /// A server's text for the user, such as `WEB_AUTH:…` or `CR_TEXT:…`.
    Info(&'a str),
    /// A client's answer to a challenge, in Base64.
    CrResponse {
        /// The answer.
        text: &'a str,
    },
    /// The client must reconnect.
    Restart {
        /// May be empty.
        reason: &'a str,
        /// Whether to reconnect to the same server instead of the next.
        same_address: bool,
    },
    /// The client must exit.
    Halt {
        /// May be empty.
        reason: &'a str,
    },
    /// The peer ends the session.
    Exit,
    /// An unknown message.
    Other(&'a str),
}

/// A server's advice on the next attempt, with a temporary refusal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retry {
    /// The least pause before the attempt, up to [`MAX_BACKOFF`].
    pub backoff: Duration,
    /// Where to connect.
    pub advance: Advance,
}

/// The address of the next attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Advance {
    /// The next address of the server, or the first of the next server.
    #[default]
    Address,
    /// The next server.
    Server,
    /// The same address.
    Stay,
}

/// A server cannot keep its clients away for longer with one message.
pub const MAX_BACKOFF: Duration = Duration::from_secs(3600);

impl<'a> Message<'a> {
    /// Parses a message without its final zero byte. Ignores trailing line ends.
    ///
    /// # Errors
    ///
    /// [`Error::Text`] if it is not UTF-8 or contains control characters, which could affect a
    /// terminal, a log or a hook.
    pub fn parse(text: &'a [u8]) -> Result<Self, Error> {
        let text = std::str::from_utf8(text).map_err(|_| Error::Text)?;
        let text = text.trim_end_matches(['\r', '\n']);
        if text.contains(char::is_control) {
            return Err(Error::Text);
        }
        let (word, rest) = text.split_once(',').unwrap_or((text, ""));
        Ok(match word {
            "PUSH_REQUEST" => Self::PushRequest,
            "PUSH_REPLY" => Self::PushReply(rest),
            "PUSH_UPDATE" => Self::PushUpdate(rest),
            "AUTH_FAILED" => Self::auth_failed(rest),
            "AUTH_PENDING" => Self::AuthPending { text: rest },
            "INFO" | "INFO_PRE" => Self::Info(rest),
            "CR_RESPONSE" => Self::CrResponse { text: rest },
            "RESTART" => {
                let (flags, reason) = flags(rest);
                Self::Restart { reason, same_address: !flags.contains('N') }
            }
            "HALT" => Self::Halt { reason: flags(rest).1 },
            "EXIT" => Self::Exit,
            _ => Self::Other(text),
        })
    }

    /// Parses the text of a refusal: `TEMP`, optional flags in brackets and a colon, and the
    /// reason.
    pub(super) fn auth_failed(text: &'a str) -> Self {
        let Some(rest) = text.strip_prefix("TEMP") else {
            return Self::AuthFailed { reason: text, retry: None };
        };
        let (flags, rest) = flags(rest);
        let retry = Some(retry(flags));
        match rest.strip_prefix(':') {
            Some(reason) => Self::AuthFailed { reason, retry },
            None if rest.is_empty() => Self::AuthFailed { reason: "", retry },
            // Another word with the same prefix.
            None => Self::AuthFailed { reason: text, retry: None },
        }
    }
}

/// Returns how long the server of an [`AuthPending`](Message::AuthPending) waits, if stated.
pub fn pending_timeout(text: &str) -> Option<Duration> {
    let seconds = text.split(',').find_map(|keyword| keyword.trim().strip_prefix("timeout "))?;
    Some(Duration::from_secs(seconds.trim().parse::<u32>().ok()?.into()))
}

/// Returns the page that the user must open in a browser: the address in `WEB_AUTH:flags:address`
/// or `OPEN_URL:address`, the text of an [`Info`](Message::Info).
pub fn page_to_open(text: &str) -> Option<&str> {
    let page = match text.strip_prefix("WEB_AUTH:") {
        Some(rest) => rest.split_once(':')?.1,
        None => text.strip_prefix("OPEN_URL:")?,
    };
    (page.starts_with("https://") || page.starts_with("http://")).then_some(page)
}

/// Parses the flags of a temporary refusal. Ignores unknown ones.
fn retry(flags: &str) -> Retry {
    let mut retry = Retry::default();
    for flag in flags.split(',') {
        match flag.trim().split_once(' ') {
            Some(("backoff", seconds)) => {
                let seconds = seconds
                    .parse::<u32>()
                    .map_or(Duration::ZERO, |seconds| Duration::from_secs(seconds.into()));
                retry.backoff = seconds.min(MAX_BACKOFF);
            }
            Some(("advance", "addr")) => retry.advance = Advance::Address,
            Some(("advance", "remote")) => retry.advance = Advance::Server,
            Some(("advance", "no")) => retry.advance = Advance::Stay,
            _ => {}
        }
    }
    retry
}

/// A question for the user during a pending authentication: `CR_TEXT:flags:question`, the text of
/// an [`Info`](Message::Info).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextChallenge<'a> {
    /// `R`: the server waits for an answer (`CR_RESPONSE`, in Base64).
    pub required: bool,
    /// `E`: the answer may be shown.
    pub echo: bool,
    /// The question.
    pub question: &'a str,
}

impl<'a> TextChallenge<'a> {
    /// Parses a message. Returns `None` if it is another one.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (flags, question) = text.strip_prefix("CR_TEXT:")?.split_once(':')?;
        let has = |wanted| flags.split(',').any(|flag| flag.trim() == wanted);
        Some(Self { required: has("R"), echo: has("E"), question })
    }
}

/// Splits flags in brackets from the text after them.
fn flags(text: &str) -> (&str, &str) {
    text.strip_prefix('[').and_then(|text| text.split_once(']')).unwrap_or(("", text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn messages() {
        let failed = |reason, temporary: bool| {
            let retry = temporary.then(Retry::default);
            Message::AuthFailed { reason, retry }
        };
        let restart = |reason, same_address| Message::Restart { reason, same_address };
        for (text, expected) in [
            ("PUSH_REQUEST", Message::PushRequest),
            ("PUSH_REPLY", Message::PushReply("")),
            ("PUSH_REPLY,ping 10,peer-id 0", Message::PushReply("ping 10,peer-id 0")),
            ("PUSH_UPDATE,-dns", Message::PushUpdate("-dns")),
            ("AUTH_FAILED", failed("", false)),
            ("AUTH_FAILED,no, never", failed("no, never", false)),
            ("AUTH_FAILED,CRV1:R:id:dXNlcg==:code?", failed("CRV1:R:id:dXNlcg==:code?", false)),
            ("AUTH_FAILED,TEMP", failed("", true)),
            ("AUTH_FAILED,TEMP:later", failed("later", true)),
            ("AUTH_FAILED,TEMP[]", failed("", true)),
            ("AUTH_FAILED,TEMP[later 5,backoff x]:later", failed("later", true)),
            ("AUTH_FAILED,TEMPER", failed("TEMPER", false)),
            ("AUTH_PENDING", Message::AuthPending { text: "" }),
            ("AUTH_PENDING,timeout 60", Message::AuthPending { text: "timeout 60" }),
            ("INFO,hello", Message::Info("hello")),
            ("INFO_PRE,WEB_AUTH::https://x/", Message::Info("WEB_AUTH::https://x/")),
            ("CR_RESPONSE,MTIz", Message::CrResponse { text: "MTIz" }),
            ("RESTART", restart("", true)),
            ("RESTART,[N]soon", restart("soon", false)),
            ("RESTART,[P]soon", restart("soon", true)),
            ("RESTART,[open", restart("[open", true)),
            ("HALT,over", Message::Halt { reason: "over" }),
            ("EXIT", Message::Exit),
            ("EXITS", Message::Other("EXITS")),
            ("PUSH_REPLYX,ping 1", Message::Other("PUSH_REPLYX,ping 1")),
            ("", Message::Other("")),
        ] {
            assert_eq!(Message::parse(text.as_bytes()), Ok(expected), "{text}");
        }
    }

    #[test]
    fn control_characters_are_errors_except_line_ends() {
        assert_eq!(Message::parse(b"INFO,hello\r\n"), Ok(Message::Info("hello")));
        assert_eq!(Message::parse("INFO,grüß".as_bytes()), Ok(Message::Info("grüß")));
        for text in [
            &b"INFO,\x1b[2J"[..],
            b"INFO,a\nb",
            b"INFO,a\0",
            b"INFO,\x7f",
            b"INFO,\t",
            b"INFO,\xc2\x9b2J",
            b"INFO,\xff",
            b"AUTH_FAILED,a\rb",
        ] {
            assert_eq!(Message::parse(text), Err(Error::Text), "{text:?}");
        }
    }

    #[test]
    fn advice_of_temporary_refusals() {
        for (flags, seconds, advance) in [
            ("[backoff 42,advance no]", 42, Advance::Stay),
            ("[advance remote]", 0, Advance::Server),
            ("[advance remote, advance addr,backoff 7]", 7, Advance::Address),
            ("[backoff 4294967295]", 3600, Advance::Address),
            ("[backoff -1,advance nowhere]", 0, Advance::Address),
        ] {
            let retry = Some(Retry { backoff: Duration::from_secs(seconds), advance });
            let text = format!("AUTH_FAILED,TEMP{flags}:No free IP addresses");
            let expected = Message::AuthFailed { reason: "No free IP addresses", retry };
            assert_eq!(Message::parse(text.as_bytes()), Ok(expected), "{flags}");
        }
    }

    #[test]
    fn pages_to_open() {
        for (text, page) in [
            ("WEB_AUTH::https://x/?a=1:2", Some("https://x/?a=1:2")),
            ("WEB_AUTH:hidden,external:https://x/", Some("https://x/")),
            ("OPEN_URL:https://x/", Some("https://x/")),
            ("OPEN_URL:http://x/", Some("http://x/")),
            ("OPEN_URL:file:///etc/passwd", None),
            ("WEB_AUTH:https", None),
            ("CR_TEXT:R:https://x/", None),
            ("", None),
        ] {
            assert_eq!(page_to_open(text), page, "{text}");
        }
    }

    #[test]
    fn questions() {
        for (text, required, echo, question) in [
            ("CR_TEXT:R,E:Code: 1+1?", true, true, "Code: 1+1?"),
            ("CR_TEXT:R:Code", true, false, "Code"),
            ("CR_TEXT::Wait", false, false, "Wait"),
        ] {
            let expected = TextChallenge { required, echo, question };
            assert_eq!(TextChallenge::parse(text), Some(expected), "{text}");
        }
        for other in ["CR_TEXT", "CR_TEXT:R", "WEB_AUTH::https://x/", ""] {
            assert_eq!(TextChallenge::parse(other), None, "{other}");
        }
    }

    #[test]
    fn timeouts() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(pending_timeout("timeout 60"), seconds(60));
        assert_eq!(pending_timeout("x 1,timeout 7"), seconds(7));
        for text in ["", "timeout", "timeout x", "timeout -1", "timeout 99999999999"] {
            assert_eq!(pending_timeout(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(
            word in "(AUTH_FAILED,TEMP|RESTART,|HALT,|AUTH_PENDING,|)",
            rest in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            let text = [word.as_bytes(), &rest].concat();
            if let Ok(Message::AuthPending { text }) = Message::parse(&text) {
                let _ = pending_timeout(text);
            }
        }

        #[test]
        fn parsed_messages_have_no_control_characters(text in "\\PC{0,20}(\\PC|\u{1}|\u{85}|\n)\\PC{0,9}") {
            let clean = !text.trim_end_matches(['\r', '\n']).contains(char::is_control);
            prop_assert_eq!(Message::parse(text.as_bytes()).is_ok(), clean);
        }
    }
}
