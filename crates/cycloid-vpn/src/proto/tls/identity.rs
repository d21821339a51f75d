//! The identity in a certificate.

use std::fmt::Write;

use rustls::pki_types::CertificateDer;
use x509_cert::Certificate;
use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::der::asn1::{
    BitStringRef, Ia5StringRef, PrintableStringRef, TeletexStringRef, Utf8StringRef,
};
use x509_cert::der::{Decode, Tag, Tagged};
use x509_cert::name::Name;

use crate::proto::Error;

/// A certificate's subject, in the forms of OpenVPN's scripts, logs and rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The last common name of the subject; may be empty.
    pub common_name: String,
    /// The whole subject: `C=DE, O=Example, CN=client`.
    pub subject: String,
    /// The subject's attributes by OpenSSL's short names.
    pub attributes: Vec<(String, String)>,
    /// The serial number, big-endian.
    pub serial: Vec<u8>,
    /// The certificate in DER.
    pub certificate: Vec<u8>,
    /// SHA-256 of the certificate.
    pub fingerprint: [u8; 32],
    /// The key usage bits, with its first byte as the low byte; `None` without the extension.
    pub key_usage: Option<u16>,
}

impl Identity {
    /// Parses a certificate's subject. Rejects a name with a control character, a zero byte in
    /// particular: programs would disagree about what follows it (CVE-2017-7522).
    pub fn of(certificate: &CertificateDer<'_>) -> Result<Self, Error> {
        let parsed = Certificate::from_der(certificate)
            .map_err(|_| Error::Malformed("unreadable certificate"))?;
        Self::of_parsed(certificate, &parsed)
    }

    /// The same for a certificate that was parsed already.
    pub(super) fn of_parsed(
        certificate: &CertificateDer<'_>,
        parsed: &Certificate,
    ) -> Result<Self, Error> {
        let mut identity = Self {
            serial: parsed.tbs_certificate().serial_number().as_bytes().to_vec(),
            certificate: certificate.to_vec(),
            fingerprint: fingerprint(certificate),
            key_usage: key_usage(parsed),
            ..Self::default()
        };
        for part in parsed.tbs_certificate().subject().iter() {
            let (name, value) = (short_name(&part.oid.to_string()), text(part)?);
            if name == "CN" {
                identity.common_name.clone_from(&value);
            }
            if !identity.subject.is_empty() {
                identity.subject.push_str(", ");
            }
            identity.subject.push_str(&name);
            identity.subject.push('=');
            identity.subject.push_str(&value);
            identity.attributes.push((name, value));
        }
        Ok(identity)
    }

    /// Returns the serial number in decimal, as passed to scripts.
    pub fn serial_decimal(&self) -> String {
        decimal(&self.serial)
    }
}

/// The subject or issuer name of a certificate or list, for comparison. Names are equal if they
/// differ only in string type, case or spaces (RFC 5280, 7.1).
#[derive(Clone, Debug)]
pub struct Subject {
    text: String,
    parts: Vec<Vec<(String, String)>>,
}

impl Subject {
    /// Returns a certificate's subject, or `None` if it cannot be parsed.
    pub fn of_certificate(certificate: &CertificateDer<'_>) -> Option<Self> {
        let parsed = Certificate::from_der(certificate).ok()?;
        Some(Self::of(parsed.tbs_certificate().subject()))
    }

    pub(super) fn of(name: &Name) -> Self {
        let spelt = |part: &AttributeTypeAndValue| match text(part) {
            Ok(text) => text,
            Err(_) => format!("#{}", base16ct::lower::encode_string(part.value.value())),
        };
        let part = |part: &AttributeTypeAndValue| {
            let words: Vec<_> = spelt(part).split_whitespace().map(str::to_lowercase).collect();
            (part.oid.to_string(), words.join(" "))
        };
        let texts =
            name.iter().map(|it| format!("{}={}", short_name(&it.oid.to_string()), spelt(it)));
        Self {
            text: texts.collect::<Vec<_>>().join(", "),
            parts: name.iter_rdn().map(|set| set.iter().map(part).collect()).collect(),
        }
    }
}

impl PartialEq for Subject {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

impl Eq for Subject {}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns the SHA-256 of a certificate in DER, as listed in `peer-fingerprint`.
pub(super) fn fingerprint(certificate: &[u8]) -> [u8; 32] {
    aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, certificate)
        .as_ref()
        .try_into()
        .expect("SHA-256 has 32 bytes")
}

/// Returns the key usage bits (RFC 5280, 4.2.1.3).
pub(super) fn key_usage(certificate: &Certificate) -> Option<u16> {
    let extensions = certificate.tbs_certificate().extensions()?;
    let extension = extensions.iter().find(|it| it.extn_id.to_string() == "2.5.29.15")?;
    let bits = BitStringRef::from_der(extension.extn_value.as_bytes()).ok()?;
    let byte = |at: usize| u16::from(bits.raw_bytes().get(at).copied().unwrap_or(0));
    Some(byte(0) | byte(1) << 8)
}

/// Returns the short name of an attribute of X.520 or RFC 4519, or its object identifier.
pub(crate) fn short_name(oid: &str) -> String {
    let known = match oid {
        "2.5.4.3" => "CN",
        "2.5.4.4" => "SN",
        "2.5.4.5" => "serialNumber",
        "2.5.4.6" => "C",
        "2.5.4.7" => "L",
        "2.5.4.8" => "ST",
        "2.5.4.9" => "street",
        "2.5.4.10" => "O",
        "2.5.4.11" => "OU",
        "2.5.4.12" => "title",
        "2.5.4.13" => "description",
        "2.5.4.41" => "name",
        "2.5.4.42" => "GN",
        "2.5.4.43" => "initials",
        "2.5.4.46" => "dnQualifier",
        "2.5.4.65" => "pseudonym",
        "1.2.840.113549.1.9.1" => "emailAddress",
        "0.9.2342.19200300.100.1.1" => "UID",
        "0.9.2342.19200300.100.1.25" => "DC",
        number => number,
    };
    known.to_owned()
}

/// Formats a big-endian number in decimal.
pub(crate) fn decimal(bytes: &[u8]) -> String {
    // Digits of base 10⁹, lowest first; a digit times 256 plus a byte stays below 2⁴⁰.
    let mut digits = vec![0u64];
    for byte in bytes {
        let mut carry = u64::from(*byte);
        for digit in &mut digits {
            carry += *digit << 8;
            *digit = carry % 1_000_000_000;
            carry /= 1_000_000_000;
        }
        digits.extend(Some(carry).filter(|carry| *carry > 0));
    }
    let mut text = digits.last().map(u64::to_string).unwrap_or_default();
    for digit in digits.iter().rev().skip(1) {
        let _ = write!(text, "{digit:09}");
    }
    text
}

fn text(part: &AttributeTypeAndValue) -> Result<String, Error> {
    let unreadable = |_| Error::Malformed("certificate subject is not text");
    let value = &part.value;
    let text = match value.tag() {
        Tag::Utf8String => {
            value.decode_as::<Utf8StringRef<'_>>().map_err(unreadable)?.as_str().to_owned()
        }
        Tag::PrintableString => {
            value.decode_as::<PrintableStringRef<'_>>().map_err(unreadable)?.as_str().to_owned()
        }
        Tag::Ia5String => {
            value.decode_as::<Ia5StringRef<'_>>().map_err(unreadable)?.as_str().to_owned()
        }
        Tag::TeletexString => {
            value.decode_as::<TeletexStringRef<'_>>().map_err(unreadable)?.as_str().to_owned()
        }
        Tag::BmpString => {
            let units: Vec<u16> = value
                .value()
                .chunks(2)
                .map(|pair| u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]))
                .collect();
            String::from_utf16(&units)
                .map_err(|_| Error::Malformed("certificate subject is not text"))?
        }
        _ => return Err(Error::Malformed("certificate subject is not text")),
    };
    if text.chars().any(char::is_control) {
        return Err(Error::NotAuthentic("control character in a certificate's subject"));
    }
    Ok(text)
}
