//! HTTP's CONNECT, with Basic and Digest authentication.
//!
//! Source: RFC 9110, sections 9.3.6 and 11; RFC 7617.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};

use base64ct::{Base64, Encoding};
use zeroize::Zeroizing;

use super::digest::{Challenge, answer};
use super::{Account, Exchange, Failure};
use crate::net::tcp;

/// The longest head of an answer, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// The authentication that this end is willing to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// None.
    #[default]
    None,
    /// Basic, sent with the first request: the password in the clear.
    Basic,
    /// Digest, or Basic if the proxy offers nothing else.
    Any,
    /// Digest only: the password never passes in the clear.
    AnyButClear,
}

/// A request for a connection.
#[derive(Clone, Debug)]
pub struct Http<'a> {
    /// The authentication.
    pub method: Method,
    /// The server's name or address.
    pub host: &'a str,
    /// The server's port.
    pub port: u16,
    /// The version in the request: `1.0` or `1.1`.
    pub version: &'a str,
    /// The field `User-Agent`.
    pub agent: Option<&'a str>,
    /// More fields, as name and value.
    pub fields: &'a [(String, String)],
}

impl Http<'_> {
    /// Connects through the proxy. The patience of `options` limits each of at most two
    /// exchanges; `nonce` is fresh randomness for Digest.
    ///
    /// # Errors
    /// Those of [`Failure`].
    pub fn connect(
        &self,
        proxy: SocketAddr,
        account: Option<&Account>,
        options: &tcp::Options,
        nonce: [u8; 16],
    ) -> Result<TcpStream, Failure> {
        let mut authorization = None;
        if self.method == Method::Basic {
            authorization = Some(basic(account.ok_or(Failure::NeedsAccount)?));
        }
        let mut tried = authorization.is_some();
        loop {
            let mut exchange = Exchange::open(proxy, options)?;
            let request = self.request(authorization.as_deref().map(String::as_str));
            exchange.stream.write_all(request.as_bytes())?;
            let head = head(&mut exchange)?;
            match status(&head)? {
                200..300 => return Ok(exchange.finish()?),
                407 if self.method == Method::None => return Err(Failure::NeedsAccount),
                407 => {
                    // A stale nonce is no wrong password, but a proxy may not repeat it for ever.
                    let challenges = challenges(&head);
                    if tried {
                        return Err(Failure::WrongAccount);
                    }
                    let account = account.ok_or(Failure::NeedsAccount)?;
                    authorization = Some(self.authorize(&challenges, account, nonce)?);
                    tried = true;
                }
                _ => return Err(Failure::Refused(first_line(&head))),
            }
        }
    }

    fn request(&self, authorization: Option<&str>) -> Zeroizing<String> {
        let target = self.target();
        let mut text = Zeroizing::new(String::with_capacity(1024));
        let mut line = |parts: &[&str]| {
            parts.iter().for_each(|part| text.push_str(part));
            text.push_str("\r\n");
        };
        line(&["CONNECT ", &target, " HTTP/", self.version]);
        if !self.fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            line(&["Host: ", &target]);
        }
        if let Some(agent) = self.agent {
            line(&["User-Agent: ", agent]);
        }
        for (name, value) in self.fields {
            line(&[name, ": ", value]);
        }
        if let Some(authorization) = authorization {
            line(&["Proxy-Authorization: ", authorization]);
        }
        line(&[]);
        text
    }

    fn target(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }

    /// Returns the value of `Proxy-Authorization` for the best challenge.
    fn authorize(
        &self,
        challenges: &[String],
        account: &Account,
        nonce: [u8; 16],
    ) -> Result<Zeroizing<String>, Failure> {
        let digest = challenges.iter().filter_map(|text| Challenge::parse(text)).next();
        if self.method != Method::Basic
            && let Some(challenge) = digest
        {
            let client = base16ct::lower::encode_string(&nonce);
            return Ok(answer(&challenge, account, "CONNECT", &self.target(), &client));
        }
        let scheme = |text: &String| text.split(' ').next().unwrap_or_default().to_owned();
        let offers_basic = challenges.iter().any(|it| scheme(it).eq_ignore_ascii_case("basic"));
        if offers_basic && self.method != Method::AnyButClear {
            return Ok(basic(account));
        }
        let offered: Vec<String> = challenges.iter().map(scheme).collect();
        Err(Failure::Unsupported(match offered.is_empty() {
            true => "an unnamed authentication".to_owned(),
            false => format!("the authentication {}", offered.join(" or ")),
        }))
    }
}

fn basic(account: &Account) -> Zeroizing<String> {
    let plain = Zeroizing::new(format!("{}:{}", account.name, *account.password));
    let encoded = Zeroizing::new(Base64::encode_string(plain.as_bytes()));
    Zeroizing::new(format!("Basic {}", *encoded))
}

/// Reads the head of the answer up to its empty line.
fn head(exchange: &mut Exchange) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") && !bytes.ends_with(b"\n\n") {
        if bytes.len() == MAX_HEAD {
            return Err(Failure::Malformed("its head is too long"));
        }
        let mut byte = [0];
        exchange.fill(&mut byte)?;
        bytes.push(byte[0]);
        // No HTTP server: tell so before the deadline.
        if bytes.len() == 5 && bytes != *b"HTTP/" {
            return Err(Failure::Malformed("it is not HTTP"));
        }
    }
    String::from_utf8(bytes).map_err(|_| Failure::Malformed("its head is not text"))
}

fn status(head: &str) -> Result<u16, Failure> {
    let code = head.split(' ').nth(1).and_then(|code| code.get(..3)?.parse().ok());
    code.ok_or(Failure::Malformed("it has no status code"))
}

/// Returns the first line, as far as it can be shown.
fn first_line(head: &str) -> String {
    let line = head.lines().next().unwrap_or_default();
    line.chars().filter(|letter| !letter.is_control()).take(100).collect()
}

fn challenges(head: &str) -> Vec<String> {
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.trim().eq_ignore_ascii_case("proxy-authenticate"))
        .map(|(_, value)| value.trim().to_owned())
        .collect()
}
