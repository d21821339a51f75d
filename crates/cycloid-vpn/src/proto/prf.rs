//! The pseudo-random function of TLS 1.0. OpenVPN derives data keys with it if the peers did not
//! negotiate the TLS exporter. It uses MD5 and SHA-1 in HMACs, which the weaknesses of the bare
//! hashes do not affect.
//!
//! Source: RFC 2246, section 5.

use hmac::{EagerHash, Hmac, KeyInit, Mac};
use md5::Md5;
use sha1::Sha1;
use zeroize::Zeroize;

/// Fills `out` from a secret, a label and seeds, with the seeds concatenated: `P_MD5(first half of
/// the secret, label + seeds) ^ P_SHA1(second half, label + seeds)`.
pub fn prf(secret: &[u8], label: &[u8], seeds: &[&[u8]], out: &mut [u8]) {
    // For a secret of odd length, the halves share the middle byte.
    let half = secret.len().div_ceil(2);
    out.fill(0);
    let seeds: Vec<&[u8]> = std::iter::once(label).chain(seeds.iter().copied()).collect();
    xor_p_hash::<Md5>(&secret[..half], &seeds, out);
    xor_p_hash::<Sha1>(&secret[secret.len() - half..], &seeds, out);
}

/// `P_hash`: HMAC(A(1) + seed), HMAC(A(2) + seed), …, with A(0) = seed and A(i) = HMAC(A(i-1)).
fn xor_p_hash<D: EagerHash>(secret: &[u8], seeds: &[&[u8]], out: &mut [u8])
where
    Hmac<D>: Mac + KeyInit + Clone,
{
    let keyed = <Hmac<D> as KeyInit>::new_from_slice(secret).expect("HMAC takes any key");
    let mac = |first: &[u8], seeds: &[&[u8]]| {
        let mut mac = keyed.clone();
        mac.update(first);
        for seed in seeds {
            mac.update(seed);
        }
        mac.finalize().into_bytes()
    };
    let mut a = mac(&[], seeds);
    let len = a.len();
    for piece in out.chunks_mut(len) {
        let mut block = mac(&a, seeds);
        for (byte, other) in piece.iter_mut().zip(&block) {
            *byte ^= other;
        }
        block.zeroize();
        let next = mac(&a, &[]);
        a.zeroize();
        a = next;
    }
    a.zeroize();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OpenSSL: `openssl kdf -keylen 40 -kdfopt digest:MD5-SHA1 -kdfopt hexsecret:… -kdfopt
    /// seed:label -kdfopt seed:seed TLS1-PRF`, for secrets of 5, 48 and 1 bytes.
    #[test]
    fn known_answers() {
        let long: Vec<u8> = (0..48).collect();
        let cases: [(&[u8], &str); 3] = [
            (
                b"\x01\x02\x03\x04\x05",
                "3f3064bbbf4ed9aa52f11cc12dbd3f5b0d3086b3391c3858ea1df6c559209ad654439544079ac486",
            ),
            (
                &long,
                "b0f2d9dac70c0c8032f8ec700616be09c0b2ebcba0b2a70b95b8874c365a86b12a7911bad30eb3fd",
            ),
            (
                b"\x00",
                "512a4e543f94882a250107dfa53709d88cfa9f564c9da49ba66bfd57dba660efb4660641eecca3e2",
            ),
        ];
        for (secret, expected) in cases {
            let mut out = [7; 40];
            prf(secret, b"label", &[b"se", b"ed"], &mut out);
            let mut hex = [0; 80];
            assert_eq!(base16ct::lower::encode_str(&out, &mut hex).expect("room"), expected);
            let mut shorter = [7; 19];
            prf(secret, b"label", &[b"seed"], &mut shorter);
            assert_eq!(shorter, out[..19]);
        }
    }
}
