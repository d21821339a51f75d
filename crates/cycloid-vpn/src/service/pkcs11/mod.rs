//! This end's certificate and private key in a PKCS #11 token. The key stays in the token, which
//! signs the handshakes.
//!
//! The feature `pkcs11` has the part that loads providers. Without it, a configuration with a token
//! is refused.

#[cfg(not(feature = "pkcs11"))]
mod no_pkcs11;
#[cfg(feature = "pkcs11")]
mod provider;
#[cfg(feature = "pkcs11")]
mod signer;
#[cfg(feature = "pkcs11")]
mod token_key;

use std::fmt;

#[cfg(not(feature = "pkcs11"))]
pub(super) use no_pkcs11::Certificates;
#[cfg(feature = "pkcs11")]
pub(super) use provider::Certificates;

use super::Failure;
use crate::config::Token;

/// How the token is asked for permission.
pub(super) enum Login {
    /// By a PIN.
    #[cfg_attr(not(feature = "pkcs11"), expect(dead_code, reason = "there is no token"))]
    Pin(zeroize::Zeroizing<String>),
    /// By a keypad or sensor of the token itself.
    AtToken,
}

/// A token and an object in it: the name of a certificate and its key. Fields that are `None` match
/// every value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KeyName {
    pub(super) manufacturer: Option<String>,
    pub(super) model: Option<String>,
    pub(super) serial: Option<String>,
    pub(super) token: Option<String>,
    /// `CKA_ID` of the certificate and the key.
    pub(super) id: Option<Vec<u8>>,
    /// `CKA_LABEL` of the certificate.
    pub(super) object: Option<String>,
}

impl KeyName {
    /// Parses a name: a URI of RFC 7512, or the form that OpenVPN prints, with manufacturer, model,
    /// serial number, label and hexadecimal id between slashes.
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let name = match text.strip_prefix("pkcs11:") {
            Some(attributes) => Self::parse_uri(attributes),
            None => Self::parse_slashes(text),
        };
        name.ok_or_else(|| {
            Failure::new(format!("pkcs11-id {text}: not the name of a certificate in a token")).hint(
                "write it like 'pkcs11:token=LABEL;id=%01', or as `openvpn --show-pkcs11-ids` does",
            )
        })
    }

    fn parse_uri(attributes: &str) -> Option<Self> {
        let mut name = Self::default();
        // The query names a module or a PIN, for which there are directives.
        if attributes.contains('?') {
            return None;
        }
        for attribute in attributes.split(';') {
            let (key, value) = attribute.split_once('=')?;
            let bytes = unescape(value, "%")?;
            let text = String::from_utf8(bytes.clone());
            match key {
                "manufacturer" => name.manufacturer = Some(text.ok()?),
                "model" => name.model = Some(text.ok()?),
                "serial" => name.serial = Some(text.ok()?),
                "token" => name.token = Some(text.ok()?),
                "object" => name.object = Some(text.ok()?),
                "id" => name.id = Some(bytes),
                "type" if ["cert", "private"].contains(&value) => {}
                _ => return None,
            }
        }
        (name.id.is_some() || name.object.is_some()).then_some(name)
    }

    fn parse_slashes(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('/').collect();
        let [manufacturer, model, serial, token, id] = parts[..] else { return None };
        let text = |part| String::from_utf8(unescape(part, "\\x")?).ok();
        let id = base16ct::mixed::decode_vec(id).ok().filter(|id| !id.is_empty())?;
        Some(Self {
            manufacturer: Some(text(manufacturer)?),
            model: Some(text(model)?),
            serial: Some(text(serial)?),
            token: Some(text(token)?),
            id: Some(id),
            object: None,
        })
    }

    /// Returns whether a complete name is meant by this one.
    #[cfg(any(test, feature = "pkcs11"))]
    pub(super) fn matches(&self, other: &Self) -> bool {
        fn fits<T: PartialEq>(wanted: &Option<T>, is: &Option<T>) -> bool {
            wanted.is_none() || wanted == is
        }
        fits(&self.manufacturer, &other.manufacturer)
            && fits(&self.model, &other.model)
            && fits(&self.serial, &other.serial)
            && fits(&self.token, &other.token)
            && fits(&self.id, &other.id)
            && fits(&self.object, &other.object)
    }
}

/// The URI of RFC 7512.
impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = [
            ("model", &self.model),
            ("manufacturer", &self.manufacturer),
            ("serial", &self.serial),
            ("token", &self.token),
            ("object", &self.object),
        ];
        let mut before = "pkcs11:";
        for (key, value) in texts {
            if let Some(value) = value {
                write!(f, "{before}{key}=")?;
                for byte in value.bytes() {
                    match byte {
                        _ if byte.is_ascii_alphanumeric() || b"-._".contains(&byte) => {
                            write!(f, "{}", char::from(byte))?;
                        }
                        _ => write!(f, "%{byte:02X}")?,
                    }
                }
                before = ";";
            }
        }
        if let Some(id) = &self.id {
            write!(f, "{before}id=")?;
            id.iter().try_for_each(|byte| write!(f, "%{byte:02X}"))?;
        }
        Ok(())
    }
}

impl KeyName {
    /// Returns the form that OpenVPN prints, or the URI if the object has no id.
    #[cfg(any(test, feature = "pkcs11"))]
    pub(super) fn serialized(&self) -> String {
        let Some(id) = &self.id else { return self.to_string() };
        let mut text = String::new();
        for part in [&self.manufacturer, &self.model, &self.serial, &self.token] {
            for byte in part.as_deref().unwrap_or_default().bytes() {
                match byte {
                    _ if byte.is_ascii_alphanumeric() => text.push(char::from(byte)),
                    _ => text.push_str(&format!("\\x{byte:02x}")),
                }
            }
            text.push('/');
        }
        text + &base16ct::upper::encode_string(id)
    }

    /// Returns whether the token of a complete name is meant by this one.
    #[cfg(any(test, feature = "pkcs11"))]
    pub(super) fn matches_token(&self, other: &Self) -> bool {
        let any = Self { id: None, object: None, ..self.clone() };
        any.matches(other)
    }
}

/// Decodes bytes that are written as two hexadecimal digits after a mark.
fn unescape(text: &str, mark: &str) -> Option<Vec<u8>> {
    let mut parts = text.split(mark);
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.as_bytes().split_at_checked(2)?;
        bytes.extend(base16ct::mixed::decode_vec(digits).ok()?);
        bytes.extend_from_slice(rest);
    }
    Some(bytes)
}

/// Returns the name of the certificate in the configuration. Without one, any certificate matches.
pub(super) fn name(token: &Token) -> Result<KeyName, Failure> {
    token.id.as_deref().map_or_else(|| Ok(KeyName::default()), KeyName::parse)
}

/// Checks without a login that the certificate can be found, as far as that is possible: private
/// certificates need a login, and the management client chooses later.
pub(super) fn rehearse(token: &Token) -> Result<(), Failure> {
    let name = name(token)?;
    if token.private_certificates {
        return Certificates::find_token(token, &name);
    }
    let listed = Certificates::read(token, &mut |_, _| Ok(Login::AtToken))?;
    if token.chosen_by_manager {
        return Ok(());
    }
    listed.choose(&name).map(drop)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn full() -> KeyName {
        let text = |text: &str| Some(text.to_owned());
        KeyName {
            manufacturer: text("SoftHSM project"),
            model: text("SoftHSM v2"),
            serial: text("e51a97d4d357aeb2"),
            token: text("my token"),
            id: Some(vec![1, 0xab]),
            object: None,
        }
    }

    #[test]
    fn both_forms_name_the_same() {
        // As OpenVPN 2.6.14 prints it.
        let printed = r"SoftHSM\x20project/SoftHSM\x20v2/e51a97d4d357aeb2/my\x20token/01AB";
        assert_eq!(KeyName::parse(printed).unwrap(), full());
        let uri = "pkcs11:model=SoftHSM%20v2;manufacturer=SoftHSM%20project;\
                   serial=e51a97d4d357aeb2;token=my%20token;id=%01%AB";
        assert_eq!(KeyName::parse(uri).unwrap(), full());
        assert_eq!(full().to_string(), uri);
        assert_eq!(full().serialized(), printed);
        let strange = KeyName { token: Some("a/b.\u{e9}".into()), ..full() };
        assert_eq!(KeyName::parse(&strange.serialized()).unwrap(), strange);
        let by_label = KeyName { id: None, object: Some("x".into()), ..full() };
        assert_eq!(KeyName::parse(&by_label.serialized()).unwrap(), by_label);
        assert!(KeyName::parse("pkcs11:token=my%20token;id=%02").unwrap().matches_token(&full()));
        assert!(!KeyName::parse("pkcs11:token=other;id=%01%AB").unwrap().matches_token(&full()));
        let short = KeyName::parse("pkcs11:token=my%20token;id=%01%ab;type=private").unwrap();
        assert!(short.matches(&full()));
        for other in ["pkcs11:token=other;id=%01%AB", "pkcs11:id=%01", "pkcs11:object=x"] {
            assert!(!KeyName::parse(other).unwrap().matches(&full()), "{other}");
        }
    }

    #[test]
    fn wrong_names_are_refused() {
        for wrong in [
            "",
            "alice",
            "pkcs11:",
            "pkcs11:token=x",
            "pkcs11:id=%0",
            "pkcs11:id=%zz",
            "pkcs11:id=%01;id-x=1",
            "pkcs11:id=%01?pin-value=1",
            "a/b/c/d",
            "a/b/c/d/",
            "a/b/c/d/0",
            r"a\x2/b/c/d/01",
            "a/b/c/d/01/02",
        ] {
            let failure = KeyName::parse(wrong).unwrap_err();
            assert!(failure.advice().is_some(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn names_round_trip(
            token in "\\PC{0,20}",
            object in prop::option::of("\\PC{0,20}"),
            id in prop::collection::vec(any::<u8>(), 0..10),
        ) {
            let name = KeyName { token: Some(token), object, id: Some(id), ..KeyName::default() };
            prop_assert_eq!(KeyName::parse(&name.to_string()).unwrap(), name);
        }

        #[test]
        fn nothing_panics(text in "(pkcs11:)?\\PC{0,40}") {
            let _ = KeyName::parse(&text);
        }
    }
}
