//! The identity in a certificate.

use std::fmt::Write;

use rustls::pki_types::CertificateDer;
use x509_cert::Certificate;
use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::der::asn1::{
    BitStringRef, Ia5StringRef, PrintableStringRef, TeletexStringRef, Utf8StringRef,
};
use x509_cert::der::{Decode, Tag, Tagged};
use x509_cert::ext::pkix::name::{GeneralName, GeneralNames};
use x509_cert::name::Name;

use crate::proto::Error;

/// A certificate's subject, in the forms of OpenVPN's scripts, logs and rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The name of the certificate's owner: the last common name of the subject, which may be
    /// empty, or the fields of [`NameField`].
    pub common_name: String,
    /// The whole subject: `C=DE, O=Example, CN=client`.
    pub subject: String,
    /// The subject's attributes by OpenSSL's short names.
    pub attributes: Vec<(String, String)>,
    /// The serial number, big-endian.
    pub serial: Vec<u8>,
    /// The certificate in DER.
    pub certificate: Vec<u8>,
    /// The certificates above it in its verified chain, in DER: its issuer first, the root last.
    /// Empty if a fingerprint alone admits it. `None` if they were not asked for, or if the chain
    /// is not valid any more.
    pub authorities: Option<Vec<Vec<u8>>>,
    /// SHA-256 of the certificate.
    pub fingerprint: [u8; 32],
    /// The key usage bits, with its first byte as the low byte; `None` without the extension.
    pub key_usage: Option<u16>,
}

impl Identity {
    /// Returns the certificate and those above it, the root last; `None` as for
    /// [`authorities`](Self::authorities).
    pub fn chain(&self) -> Option<Vec<&[u8]>> {
        let above = self.authorities.as_ref()?.iter().map(Vec::as_slice);
        Some([&*self.certificate].into_iter().chain(above).collect())
    }

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

    /// Sets the name from these fields, joined by `_`; without fields, leaves it as it is.
    pub(super) fn named_by(
        mut self,
        fields: &[NameField],
        parsed: &Certificate,
    ) -> Result<Self, Error> {
        if !fields.is_empty() {
            let values = fields.iter().map(|field| field.of(&self, parsed));
            let values: Option<Vec<String>> = values.collect();
            let values = values.ok_or(Error::NotAuthentic("no field of x509-username-field"))?;
            self.common_name = values.join("_");
        }
        Ok(self)
    }

    /// Returns the serial number in decimal, as passed to scripts.
    pub fn serial_decimal(&self) -> String {
        decimal(&self.serial)
    }
}

/// A field of a certificate that names its owner: `x509-username-field`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameField {
    /// The last attribute of the subject with this short name.
    Attribute(&'static str),
    /// The certificate's serial number, like `0x18FFA0`.
    SerialNumber,
    /// The last e-mail address of the extension subjectAltName.
    SubjectEmail,
    /// The last e-mail address of the extension issuerAltName.
    IssuerEmail,
}

impl NameField {
    /// Parses an argument of `x509-username-field`: the short or long name of an attribute, or
    /// `ext:` and the name of an extension.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "serialNumber" => Self::SerialNumber,
            "ext:subjectAltName" => Self::SubjectEmail,
            "ext:issuerAltName" => Self::IssuerEmail,
            name => {
                let known = |(_, short, long): &&(_, &str, &str)| *short == name || *long == name;
                Self::Attribute(ATTRIBUTES.iter().find(known)?.1)
            }
        })
    }

    /// Returns its value, unless it is absent or empty.
    fn of(&self, identity: &Identity, parsed: &Certificate) -> Option<String> {
        let value = match self {
            Self::Attribute(wanted) => {
                let mut attributes = identity.attributes.iter().rev();
                attributes.find(|(name, _)| name == wanted)?.1.clone()
            }
            Self::SerialNumber => {
                let digits = base16ct::upper::encode_string(&identity.serial);
                format!("0x{}", digits.strip_prefix("00").unwrap_or(&digits))
            }
            Self::SubjectEmail => email(parsed, "2.5.29.17")?,
            Self::IssuerEmail => email(parsed, "2.5.29.18")?,
        };
        (!value.is_empty() && !value.contains(char::is_control)).then_some(value)
    }
}

/// Returns the last e-mail address of an extension with names.
fn email(certificate: &Certificate, extension: &str) -> Option<String> {
    let extensions = certificate.tbs_certificate().extensions()?;
    let extension = extensions.iter().find(|it| it.extn_id.to_string() == extension)?;
    let names = GeneralNames::from_der(extension.extn_value.as_bytes()).ok()?;
    names.iter().rev().find_map(|name| match name {
        GeneralName::Rfc822Name(address) => Some(address.as_str().to_owned()),
        _ => None,
    })
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

/// Attributes of X.520 and RFC 4519: object identifier, short name and long name of OpenSSL.
const ATTRIBUTES: &[(&str, &str, &str)] = &[
    ("2.5.4.3", "CN", "commonName"),
    ("2.5.4.4", "SN", "surname"),
    ("2.5.4.5", "serialNumber", "serialNumber"),
    ("2.5.4.6", "C", "countryName"),
    ("2.5.4.7", "L", "localityName"),
    ("2.5.4.8", "ST", "stateOrProvinceName"),
    ("2.5.4.9", "street", "streetAddress"),
    ("2.5.4.10", "O", "organizationName"),
    ("2.5.4.11", "OU", "organizationalUnitName"),
    ("2.5.4.12", "title", "title"),
    ("2.5.4.13", "description", "description"),
    ("2.5.4.41", "name", "name"),
    ("2.5.4.42", "GN", "givenName"),
    ("2.5.4.43", "initials", "initials"),
    ("2.5.4.46", "dnQualifier", "dnQualifier"),
    ("2.5.4.65", "pseudonym", "pseudonym"),
    ("1.2.840.113549.1.9.1", "emailAddress", "emailAddress"),
    ("0.9.2342.19200300.100.1.1", "UID", "userId"),
    ("0.9.2342.19200300.100.1.25", "DC", "domainComponent"),
];

/// Returns the short name of an attribute, or its object identifier.
pub(crate) fn short_name(oid: &str) -> String {
    let known = ATTRIBUTES.iter().find(|(number, ..)| *number == oid);
    known.map_or(oid, |(_, short, _)| short).to_owned()
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
