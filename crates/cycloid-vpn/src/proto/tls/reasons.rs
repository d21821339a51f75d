//! The reasons why TLS failed, in words for a person.

use rustls::{AlertDescription as Alert, CertificateError, Error, InconsistentKeys};

/// Returns the reason in words. Rare ones keep the words of rustls.
pub(super) fn in_words(error: &Error) -> String {
    let words = match error {
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "no authority of `ca` has issued the peer's certificate"
        }
        Error::InvalidCertificate(CertificateError::Expired) => {
            "the peer's certificate, or that of an authority above it, has expired"
        }
        Error::InvalidCertificate(CertificateError::NotValidYet) => {
            "the peer's certificate, or that of an authority above it, is not valid yet"
        }
        Error::InvalidCertificate(CertificateError::Revoked) => "the peer's certificate is revoked",
        Error::InvalidCertificate(CertificateError::BadEncoding) => {
            "the peer's certificate, or that of an authority above it, is malformed"
        }
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            "the private key is not that of the certificate"
        }
        Error::NoCertificatesPresented => "the peer has sent no certificate",
        Error::AlertReceived(Alert::UnknownCA) => {
            "the peer does not trust the authority of this end's certificate"
        }
        Error::AlertReceived(Alert::CertificateExpired) => {
            "the peer says that this end's certificate has expired"
        }
        Error::AlertReceived(Alert::CertificateRevoked) => {
            "the peer says that this end's certificate is revoked"
        }
        Error::AlertReceived(Alert::CertificateRequired) => "the peer requires a certificate",
        Error::AlertReceived(
            Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateUnknown
            | Alert::AccessDenied,
        ) => "the peer refuses this end's certificate; its log has the reason",
        other => return other.to_string(),
    };
    words.into()
}
