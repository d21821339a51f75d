//! Test authorities, and hand-built lists with contents that rcgen cannot write.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, SerialNumber, SigningKey,
};
use rustls::pki_types::CertificateDer;
use webpki::anchor_from_trusted_cert;

use super::super::RevocationList;

pub(super) const ECDSA_SHA256: &[u8] = b"\x30\x0a\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x02";

pub(super) struct Authority(pub(super) CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(super) fn parameters(name: &str) -> CertificateParams {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name.push(DnType::CommonName, name);
        params
    }

    pub(super) fn root(name: &str, serial: u64) -> Self {
        let mut params = Self::parameters(name);
        params.serial_number = Some(SerialNumber::from(serial));
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(super) fn below(
        &self,
        name: &str,
        serial: u64,
        change: impl FnOnce(&mut CertificateParams),
    ) -> Self {
        self.below_with(name, serial, KeyPair::generate().unwrap(), change)
    }

    pub(super) fn below_with(
        &self,
        name: &str,
        serial: u64,
        key: KeyPair,
        change: impl FnOnce(&mut CertificateParams),
    ) -> Self {
        let mut params = Self::parameters(name);
        params.serial_number = Some(SerialNumber::from(serial));
        change(&mut params);
        Self(CertifiedIssuer::signed_by(params, key, &self.0).unwrap())
    }

    pub(super) fn certificate(&self) -> CertificateDer<'static> {
        self.0.der().clone()
    }

    pub(super) fn issue(
        &self,
        serial: u64,
        change: impl FnOnce(&mut CertificateParams),
    ) -> Certificate {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "peer");
        params.serial_number = Some(SerialNumber::from(serial));
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        change(&mut params);
        params.signed_by(&KeyPair::generate().unwrap(), &self.0).unwrap().der().clone()
    }

    /// Returns a version 2 list that revokes these serial numbers.
    pub(super) fn list(&self, serials: &[u64]) -> RevocationList {
        Draft::of(self).revoking(serials).list()
    }
}

pub(super) type Certificate = CertificateDer<'static>;

/// The contents of a hand-built list; rcgen writes only valid ones.
pub(super) struct Draft<'a> {
    pub(super) authority: &'a Authority,
    pub(super) signer: &'a Authority,
    pub(super) version: &'static [u8],
    pub(super) this_update: &'static str,
    pub(super) next_update: Option<&'static str>,
    pub(super) entries: Vec<Vec<u8>>,
    pub(super) extensions: Vec<Vec<u8>>,
    pub(super) algorithm: &'static [u8],
}

pub(super) fn tlv(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let value = parts.concat();
    let length = u16::try_from(value.len()).unwrap();
    let length = match length {
        0..128 => vec![length as u8],
        128..256 => vec![0x81, length as u8],
        _ => [&[0x82][..], &length.to_be_bytes()].concat(),
    };
    [&[tag][..], &length, &value].concat()
}

/// Encodes an extension `id-ce` with this number.
pub(super) fn extension(number: u8, critical: bool, value: &[u8]) -> Vec<u8> {
    let critical: &[u8] = if critical { b"\x01\x01\xff" } else { b"" };
    tlv(0x30, &[&[6, 3, 0x55, 0x1d, number], critical, &tlv(4, &[value])])
}

pub(super) fn entry(serial: u64, extensions: &[Vec<u8>]) -> Vec<u8> {
    // A number whose first bit is set needs a leading zero.
    let bytes = serial.to_be_bytes();
    let zeros = (serial.leading_zeros() / 8) as usize;
    let sign: &[u8] = if serial.leading_zeros().is_multiple_of(8) { &[0] } else { &[] };
    let number = tlv(2, &[sign, &bytes[zeros..]]);
    let extensions: Vec<&[u8]> = extensions.iter().map(Vec::as_slice).collect();
    let extensions = if extensions.is_empty() { Vec::new() } else { tlv(0x30, &extensions) };
    tlv(0x30, &[&number, &tlv(0x17, &[b"250101000000Z"]), &extensions])
}

impl<'a> Draft<'a> {
    pub(super) fn of(authority: &'a Authority) -> Self {
        Self {
            authority,
            signer: authority,
            version: b"\x02\x01\x01",
            this_update: "250101000000Z",
            next_update: Some("350101000000Z"),
            entries: Vec::new(),
            extensions: Vec::new(),
            algorithm: ECDSA_SHA256,
        }
    }

    pub(super) fn revoking(self, serials: &[u64]) -> Self {
        Self { entries: serials.iter().map(|serial| entry(*serial, &[])).collect(), ..self }
    }

    pub(super) fn of_version_1(self) -> Self {
        Self { version: b"", ..self }
    }

    pub(super) fn signed_by(self, signer: &'a Authority) -> Self {
        Self { signer, ..self }
    }

    pub(super) fn updated(
        self,
        this_update: &'static str,
        next_update: Option<&'static str>,
    ) -> Self {
        Self { this_update, next_update, ..self }
    }

    pub(super) fn with(self, extension: Vec<u8>) -> Self {
        Self { extensions: vec![extension], ..self }
    }

    pub(super) fn der(&self) -> Vec<u8> {
        let flat = |parts: &[Vec<u8>]| parts.concat();
        let name = anchor_from_trusted_cert(self.authority.0.der()).unwrap().to_owned();
        let wrapped = |tag: u8, parts: &[Vec<u8>]| match parts {
            [] => Vec::new(),
            parts => tlv(tag, &[&flat(parts)]),
        };
        let next = self.next_update.map_or(Vec::new(), |time| tlv(0x17, &[time.as_bytes()]));
        let extensions = wrapped(0x30, &self.extensions);
        let explicit = if extensions.is_empty() { Vec::new() } else { tlv(0xa0, &[&extensions]) };
        let content = tlv(
            0x30,
            &[
                self.version,
                self.algorithm,
                &tlv(0x30, &[name.subject.as_ref()]),
                &tlv(0x17, &[self.this_update.as_bytes()]),
                &next,
                &wrapped(0x30, &self.entries),
                &explicit,
            ],
        );
        let signature = self.signer.0.key().sign(&content).unwrap();
        tlv(0x30, &[&content, self.algorithm, &tlv(3, &[&[0], &signature])])
    }

    pub(super) fn list(&self) -> RevocationList {
        RevocationList::from_der(&self.der()).unwrap()
    }
}
