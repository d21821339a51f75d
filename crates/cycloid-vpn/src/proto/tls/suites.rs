//! Names of cipher suites and key exchange groups: those of IANA, OpenSSL and OpenVPN, and the
//! operators of OpenSSL's cipher lists.
//!
//! Source: openvpn(8), "--tls-cipher" and "--tls-groups"; openssl-ciphers(1); RFC 8446, B.4; RFC
//! 8422, 6.

use rustls::{CipherSuite, NamedGroup, SupportedCipherSuite};

/// The entries of a list that this program supports, and the names of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice<T> {
    /// The entries, best first; never empty.
    pub entries: Vec<T>,
    /// Names without a supported entry.
    pub ignored: Vec<String>,
}

/// A list that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableNames {
    /// The problem.
    pub message: String,
    /// The supported names.
    pub hint: String,
}

/// The highest level of `@SECLEVEL` that every connection meets: RSA keys have at least 2048 bits.
const SECURITY_LEVEL: u8 = 2;

/// Words of OpenSSL's lists that select nothing here: suites without forward secrecy,
/// authentication, encryption or AEAD.
const NO_SUITE: [&str; 40] = [
    "COMPLEMENTOFDEFAULT",
    "COMPLEMENTOFALL",
    "MEDIUM",
    "LOW",
    "EXP",
    "EXPORT",
    "NULL",
    "eNULL",
    "aNULL",
    "kRSA",
    "RSA",
    "DHE",
    "EDH",
    "kDHE",
    "kEDH",
    "DH",
    "ADH",
    "AECDH",
    "aDSS",
    "DSS",
    "PSK",
    "kPSK",
    "aPSK",
    "ECDHEPSK",
    "DHEPSK",
    "RSAPSK",
    "SRP",
    "kSRP",
    "aSRP",
    "MD5",
    "SHA1",
    "SHA",
    "RC4",
    "3DES",
    "DES",
    "CAMELLIA",
    "IDEA",
    "SEED",
    "ARIA",
    "AESCCM",
];

/// Parses `tls-cipher`: a list for TLS 1.2 in OpenSSL's syntax, whose names may also be those of
/// IANA or OpenVPN. Does not concern TLS 1.3.
///
/// # Errors
/// A list that selects no supported suite, or an operator without a meaning here.
pub fn tls12_suites(list: &str) -> Result<Choice<CipherSuite>, UnusableNames> {
    let all = supported(false);
    let mut left = all.clone();
    let mut entries: Vec<CipherSuite> = Vec::new();
    let mut ignored = Vec::new();
    for element in list.split([':', ',', ' ', ';']).filter(|element| !element.is_empty()) {
        if let Some(command) = element.strip_prefix('@') {
            check_command(command)?;
            continue;
        }
        let (operator, selector) = match element.as_bytes()[0] {
            sign @ (b'!' | b'-' | b'+') => (sign, &element[1..]),
            _ => (b' ', element),
        };
        let selected = select(&all, selector);
        match (operator, selected) {
            (b' ', None) => ignored.push(selector.to_owned()),
            (_, None) => {}
            (b' ', Some(selected)) => {
                let free = |suite: &CipherSuite| left.contains(suite) && !entries.contains(suite);
                let added: Vec<_> = selected.into_iter().filter(free).collect();
                entries.extend(added);
            }
            (b'+', Some(selected)) => {
                let (moved, mut kept): (Vec<_>, Vec<_>) =
                    entries.iter().partition(|suite| selected.contains(suite));
                kept.extend(moved);
                entries = kept;
            }
            (sign, Some(selected)) => {
                entries.retain(|suite| !selected.contains(suite));
                if sign == b'!' {
                    left.retain(|suite| !selected.contains(suite));
                }
            }
        }
    }
    if entries.is_empty() {
        return Err(UnusableNames {
            message: format!("no supported cipher suite of TLS 1.2 matches '{list}'"),
            hint: format!("use one of {}, or DEFAULT", names(&all)),
        });
    }
    Ok(Choice { entries, ignored })
}

/// Parses `tls-ciphersuites`: names of TLS 1.3.
///
/// # Errors
/// An unknown suite, or none.
pub fn tls13_suites(list: &str) -> Result<Choice<CipherSuite>, UnusableNames> {
    let all = supported(true);
    let wrong =
        |message: String| UnusableNames { message, hint: format!("use one of {}", names(&all)) };
    let mut choice = Choice { entries: Vec::new(), ignored: Vec::new() };
    for name in list.split([':', ',', ' ']).filter(|name| !name.is_empty()) {
        let plain = name.replace('-', "_");
        match all.iter().find(|suite| iana(**suite).eq_ignore_ascii_case(&plain)) {
            Some(suite) if choice.entries.contains(suite) => {}
            Some(suite) => choice.entries.push(*suite),
            None if matches!(&*plain, "TLS_AES_128_CCM_SHA256" | "TLS_AES_128_CCM_8_SHA256") => {
                choice.ignored.push(name.to_owned());
            }
            None => return Err(wrong(format!("unknown cipher suite of TLS 1.3 '{name}'"))),
        }
    }
    if choice.entries.is_empty() {
        return Err(wrong(format!("no supported cipher suite of TLS 1.3 matches '{list}'")));
    }
    Ok(choice)
}

/// Parses `tls-groups`: names of IANA, NIST or OpenSSL, best first. A `?` before a name makes it
/// optional.
///
/// # Errors
/// An unknown group, or none.
pub fn groups(list: &str) -> Result<Choice<NamedGroup>, UnusableNames> {
    let all: Vec<NamedGroup> = cycloid_rustls::ALL_GROUPS.iter().map(|it| it.name()).collect();
    let known: Vec<&str> = all.iter().filter_map(NamedGroup::as_str).collect();
    let wrong = |message: String| UnusableNames {
        message,
        hint: format!("use some of {}", known.join(", ")),
    };
    let mut choice = Choice { entries: Vec::new(), ignored: Vec::new() };
    for name in list.split([':', ',']).filter(|name| !name.is_empty()) {
        let (name, optional) = match name.strip_prefix('?') {
            Some(name) => (name, true),
            None => (name, false),
        };
        let lower = name.to_ascii_lowercase();
        let wanted = match &*lower {
            "prime256v1" | "p-256" => "secp256r1",
            "p-384" => "secp384r1",
            "p-521" => "secp521r1",
            other => other,
        };
        let group = all
            .iter()
            .find(|group| group.as_str().is_some_and(|known| known.eq_ignore_ascii_case(wanted)));
        match group {
            Some(group) if choice.entries.contains(group) => {}
            Some(group) => choice.entries.push(*group),
            None if optional => choice.ignored.push(name.to_owned()),
            None => return Err(wrong(format!("unsupported key exchange group '{name}'"))),
        }
    }
    if choice.entries.is_empty() {
        return Err(wrong(format!("no supported key exchange group in '{list}'")));
    }
    Ok(choice)
}

fn supported(tls13: bool) -> Vec<CipherSuite> {
    let all = cycloid_rustls::default_provider().cipher_suites;
    let wanted = |it: &&SupportedCipherSuite| it.tls13().is_some() == tls13;
    all.iter().filter(wanted).map(SupportedCipherSuite::suite).collect()
}

fn check_command(command: &str) -> Result<(), UnusableNames> {
    let level = command.strip_prefix("SECLEVEL=").map(str::parse::<u8>);
    match (command, level) {
        // Suites are listed by strength.
        ("STRENGTH", _) | (_, Some(Ok(..=SECURITY_LEVEL))) => Ok(()),
        (_, Some(Ok(level @ ..=5))) => Err(UnusableNames {
            message: format!("security level {level} is not supported"),
            hint: format!("use @SECLEVEL={SECURITY_LEVEL}, which is always in force"),
        }),
        _ => Err(UnusableNames {
            message: format!("unknown cipher list command '@{command}'"),
            hint: format!("use @STRENGTH or @SECLEVEL=0 to @SECLEVEL={SECURITY_LEVEL}"),
        }),
    }
}

/// Returns the suites that a name or several words joined by `+` select; `None` for a name without
/// a supported suite.
fn select(all: &[CipherSuite], selector: &str) -> Option<Vec<CipherSuite>> {
    if let Some(suite) = all.iter().find(|suite| is_named(**suite, selector)) {
        return Some(vec![*suite]);
    }
    let mut selected = all.to_vec();
    for word in selector.split('+') {
        if NO_SUITE.contains(&word) {
            selected.clear();
            continue;
        }
        let part: &[&str] = match word {
            "ALL" | "DEFAULT" | "HIGH" | "ECDHE" | "EECDH" | "kECDHE" | "kEECDH" | "ECDH"
            | "TLSv1.2" => &[""],
            "aRSA" => &["ECDHE_RSA"],
            "aECDSA" | "ECDSA" => &["ECDHE_ECDSA"],
            "AES" | "AESGCM" => &["AES_"],
            "AES128" => &["AES_128"],
            "AES256" => &["AES_256"],
            "CHACHA20" => &["CHACHA20"],
            "SHA256" => &["SHA256"],
            "SHA384" => &["SHA384"],
            _ => return None,
        };
        selected.retain(|suite| part.iter().any(|part| iana(*suite).contains(part)));
    }
    Some(selected)
}

/// Returns IANA's name. rustls writes `TLS13_` for suites of TLS 1.3.
fn iana(suite: CipherSuite) -> String {
    suite.as_str().unwrap_or_default().replace("TLS13_", "TLS_")
}

/// Returns whether a suite of TLS 1.2 has this name: IANA's, OpenVPN's or OpenSSL's.
fn is_named(suite: CipherSuite, name: &str) -> bool {
    let iana = iana(suite);
    let dashes = iana.replace('_', "-");
    let openssl = dashes.replace("TLS-", "").replace("-WITH", "").replace("AES-", "AES");
    let chacha = openssl.contains("CHACHA20").then(|| openssl.trim_end_matches("-SHA256"));
    [&*iana, &*dashes, &*openssl]
        .into_iter()
        .chain(chacha)
        .any(|known| known.eq_ignore_ascii_case(name))
}

fn names(suites: &[CipherSuite]) -> String {
    suites.iter().map(|suite| iana(*suite).replace('_', "-")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const RSA_256: CipherSuite = CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384;
    const RSA_CHACHA: CipherSuite = CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256;

    #[test]
    fn one_suite_has_several_names() {
        for name in [
            "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
            "TLS-ECDHE-RSA-WITH-AES-256-GCM-SHA384",
            "ECDHE-RSA-AES256-GCM-SHA384",
            "ecdhe-rsa-aes256-gcm-sha384",
            "AES256+aRSA",
        ] {
            assert_eq!(tls12_suites(name).unwrap().entries, [RSA_256], "{name}");
        }
        for name in [
            "ECDHE-RSA-CHACHA20-POLY1305",
            "TLS-ECDHE-RSA-WITH-CHACHA20-POLY1305-SHA256",
            "CHACHA20+aRSA",
        ] {
            assert_eq!(tls12_suites(name).unwrap().entries, [RSA_CHACHA], "{name}");
        }
    }

    #[test]
    fn operators_of_cipher_lists() {
        let all = supported(false);
        for list in ["DEFAULT", "DEFAULT:@SECLEVEL=0", "HIGH:!aNULL", "ALL:-eNULL:@STRENGTH"] {
            assert_eq!(tls12_suites(list).unwrap().entries, all, "{list}");
        }
        let rsa = tls12_suites("ALL:!ECDSA:ECDSA").unwrap().entries;
        assert_eq!(rsa.len(), 3);
        assert!(tls12_suites("ALL:-ECDSA:ECDSA").unwrap().entries.len() == 6);
        let last = tls12_suites("aRSA:+AES256").unwrap().entries;
        assert_eq!(last.last(), Some(&RSA_256));
        // A name that is not supported leaves the others in place, and is reported.
        let choice = tls12_suites("TLS-DHE-RSA-WITH-AES-256-CBC-SHA:ECDHE-RSA-AES256-GCM-SHA384");
        let choice = choice.unwrap();
        assert_eq!(choice.entries, [RSA_256]);
        assert_eq!(choice.ignored, ["TLS-DHE-RSA-WITH-AES-256-CBC-SHA"]);
    }

    #[test]
    fn lists_without_a_supported_suite_are_errors() {
        for list in [
            "",
            ":",
            "!ALL",
            "aNULL",
            "DHE+AESGCM",
            "TLS-DHE-RSA-WITH-AES-256-CBC-SHA",
            "TLS_AES_256_GCM_SHA384",
            "ALL:!ECDHE",
            "é",
            "+",
            "!",
        ] {
            let error = tls12_suites(list).unwrap_err();
            assert!(error.message.contains("TLS 1.2"), "{list}");
            assert!(error.hint.contains("TLS-ECDHE-RSA-WITH-AES-256-GCM-SHA384"), "{list}");
        }
        for list in ["DEFAULT:@SECLEVEL=5", "DEFAULT:@SECLEVEL=x", "DEFAULT:@", "@X"] {
            assert!(tls12_suites(list).is_err(), "{list}");
        }
    }

    #[test]
    fn suites_of_tls_1_3() {
        let choice =
            tls13_suites("TLS-AES-128-GCM-SHA256:TLS_AES_256_GCM_SHA384:TLS_AES_128_CCM_SHA256");
        let choice = choice.unwrap();
        assert_eq!(
            choice.entries,
            [CipherSuite::TLS13_AES_128_GCM_SHA256, CipherSuite::TLS13_AES_256_GCM_SHA384]
        );
        assert_eq!(choice.ignored, ["TLS_AES_128_CCM_SHA256"]);
        for list in ["", "DEFAULT", "ECDHE-RSA-AES256-GCM-SHA384", "TLS_AES_128_CCM_SHA256"] {
            assert!(tls13_suites(list).is_err(), "{list}");
        }
    }

    #[test]
    fn groups_by_any_name() {
        let choice = groups("X25519MLKEM768:x25519:prime256v1:?X448:P-521").unwrap();
        assert_eq!(
            choice.entries,
            [
                NamedGroup::X25519MLKEM768,
                NamedGroup::X25519,
                NamedGroup::secp256r1,
                NamedGroup::secp521r1
            ]
        );
        assert_eq!(choice.ignored, ["X448"]);
        let error = groups("X25519:X9999").unwrap_err();
        assert!(error.message.contains("'X9999'"), "{error:?}");
        assert!(error.hint.contains("X25519MLKEM768"), "{error:?}");
        assert!(groups("").is_err() && groups("?X448").is_err());
    }
}
