//! Certificates and keys for tests.

use std::sync::Arc;

use cycloid_vpn::proto::Role;
use cycloid_vpn::proto::tls::{
    Credentials, PeerRules, RevocationList, TlsFactory, TlsSettings, Usage,
};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams,
    SerialNumber, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A certificate authority for a test.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    /// Intermediate certificates that issued certificates include in their chain.
    above: Vec<CertificateDer<'static>>,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Arc<Self> {
        let key = KeyPair::generate().expect("a key");
        let issuer = CertifiedIssuer::self_signed(Self::params(name), key).expect("an authority");
        Arc::new(Self { issuer, above: Vec::new() })
    }

    /// Returns an intermediate authority issued by this one.
    #[allow(dead_code)]
    pub(crate) fn below(&self, name: &str, serial: u64) -> Arc<Self> {
        let mut params = Self::params(name);
        params.serial_number = Some(SerialNumber::from(serial));
        let key = KeyPair::generate().expect("a key");
        let issuer = CertifiedIssuer::signed_by(params, key, &self.issuer).expect("an authority");
        let above = [issuer.der().clone()].into_iter().chain(self.above.clone()).collect();
        Arc::new(Self { issuer, above })
    }

    fn params(name: &str) -> CertificateParams {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name.push(DnType::CommonName, name);
        params
    }

    pub(crate) fn certificate(&self) -> CertificateDer<'static> {
        self.issuer.der().clone()
    }

    /// Issues a certificate for one role.
    pub(crate) fn issue(&self, name: &str, role: Role, serial: u64) -> Credentials {
        self.issue_with(name, role, serial, |_| ())
    }

    pub(crate) fn issue_with(
        &self,
        name: &str,
        role: Role,
        serial: u64,
        change: impl FnOnce(&mut CertificateParams),
    ) -> Credentials {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.serial_number = Some(SerialNumber::from(serial));
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![match role {
            Role::Client => ExtendedKeyUsagePurpose::ClientAuth,
            Role::Server => ExtendedKeyUsagePurpose::ServerAuth,
        }];
        change(&mut params);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        Credentials {
            chain: [certificate.der().clone()].into_iter().chain(self.above.clone()).collect(),
            key: PrivateKeyDer::Pkcs8(key.serialize_der().into()),
        }
    }

    /// Returns a list that revokes these serial numbers.
    pub(crate) fn revoke(&self, serials: &[u64]) -> RevocationList {
        let revoked = serials
            .iter()
            .map(|&serial| RevokedCertParams {
                serial_number: SerialNumber::from(serial),
                revocation_time: date_time_ymd(2025, 1, 1),
                reason_code: None,
                invalidity_date: None,
            })
            .collect();
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2025, 1, 1),
            next_update: date_time_ymd(2035, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: revoked,
            key_identifier_method: KeyIdMethod::Sha256,
        }
        .signed_by(&self.issuer)
        .expect("a list");
        RevocationList::from_der(list.der()).expect("a list that can be used")
    }

    /// Returns rules that accept peers of this authority.
    pub(crate) fn rules(&self) -> PeerRules {
        PeerRules {
            authorities: vec![self.certificate()],
            usage: Usage::Required,
            ..PeerRules::default()
        }
    }

    pub(crate) fn tls(&self, role: Role, own: Credentials) -> TlsFactory {
        self.tls_with(role, Some(own), self.rules())
    }

    pub(crate) fn tls_with(
        &self,
        role: Role,
        own: Option<Credentials>,
        peer: PeerRules,
    ) -> TlsFactory {
        let settings = TlsSettings { credentials: own, peer, ..TlsSettings::default() };
        TlsFactory::new(role, &settings).expect("settings that can be used")
    }
}
