//! tls-crypt: AES-256-CTR with an HMAC-SHA256 tag whose first half is the initial counter (SIV). So
//! only identical packets have identical ciphertexts.

use std::fmt;

use aws_lc_rs::cipher::{AES_256, EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use zeroize::Zeroize;

use crate::proto::packet_id::{LongId, LongReplayWindow};
use crate::proto::static_key::{Direction, StaticKey};
use crate::proto::wire::{Control, HEADER_LEN};
use crate::proto::{Error, Role};

/// Bytes of a tag.
pub(super) const TAG_LEN: usize = 32;

/// Bytes in addition to header and body.
pub(super) const OVERHEAD: usize = LongId::LEN + TAG_LEN;

/// The authenticated, unencrypted bytes: header and id.
const CLEAR_LEN: usize = HEADER_LEN + LongId::LEN;

/// Keys for both directions.
pub(super) struct Keys {
    send: Siv,
    receive: Siv,
}

impl Keys {
    pub(super) fn new(key: &StaticKey, role: Role) -> Self {
        let (send, receive) = Direction::halves(Some(Direction::of(role)));
        Self {
            send: Siv::new(key.cipher(send), key.hmac(send)),
            receive: Siv::new(key.cipher(receive), key.hmac(receive)),
        }
    }

    /// Appends id, tag and encrypted body to the header in `out`.
    pub(super) fn seal(&self, id: LongId, packet: &Control<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(&id.to_bytes());
        out.resize(CLEAR_LEN + TAG_LEN, 0);
        packet.write_body(out);
        let (clear, rest) = out.split_at_mut(CLEAR_LEN);
        let (place, body) = rest.split_at_mut(TAG_LEN);
        let tag = self.send.tag(&[clear, body]);
        place.copy_from_slice(&tag);
        self.send.encrypt(&tag, body);
    }

    /// Decrypts a packet in place and returns its id and body.
    pub(super) fn open<'a>(
        &self,
        packet: &'a mut [u8],
        window: &LongReplayWindow,
    ) -> Result<(LongId, &'a [u8]), Error> {
        let (clear, rest) = packet.split_first_chunk_mut::<CLEAR_LEN>().ok_or(Error::Short)?;
        let (tag, body) = rest.split_first_chunk_mut().ok_or(Error::Short)?;
        let id = LongId::from_bytes(clear.last_chunk().expect("an id behind the header"));
        window.check(id)?;
        self.receive.open(tag, &[&*clear], body)?;
        Ok((id, body))
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tls-crypt")
    }
}

/// Nonce-free encryption: the tag over everything is the initial counter.
pub(super) struct Siv {
    cipher: EncryptingKey,
    hmac: hmac::Key,
}

impl Siv {
    /// Creates the keys from the first 32 bytes of each part.
    pub(super) fn new(cipher: &[u8; 64], mac: &[u8; 64]) -> Self {
        let cipher = UnboundCipherKey::new(&AES_256, &cipher[..32])
            .and_then(EncryptingKey::ctr)
            .expect("a key of 32 bytes is one for AES-256");
        Self { cipher, hmac: hmac::Key::new(hmac::HMAC_SHA256, &mac[..32]) }
    }

    /// Returns the tag over all parts, before encryption.
    pub(super) fn tag(&self, parts: &[&[u8]]) -> [u8; TAG_LEN] {
        let mut context = hmac::Context::with_key(&self.hmac);
        for part in parts {
            context.update(part);
        }
        context.sign().as_ref().try_into().expect("SHA-256 has 32 bytes")
    }

    /// Encrypts or decrypts in place, which are the same operation in counter mode.
    pub(super) fn encrypt(&self, tag: &[u8; TAG_LEN], data: &mut [u8]) {
        let counter: &[u8; 16] = tag.first_chunk().expect("half of it");
        self.cipher
            .less_safe_encrypt(data, EncryptionContext::Iv128(counter.into()))
            .expect("counter mode takes any length");
    }

    /// Decrypts the bytes after the clear parts in place and verifies the tag over everything.
    /// Wipes them if the tag is wrong. Compares in constant time.
    pub(super) fn open(
        &self,
        tag: &[u8; TAG_LEN],
        clear: &[&[u8]],
        data: &mut [u8],
    ) -> Result<(), Error> {
        self.encrypt(tag, data);
        let mut context = hmac::Context::with_key(&self.hmac);
        for part in clear {
            context.update(part);
        }
        context.update(data);
        verify_slices_are_equal(context.sign().as_ref(), tag).map_err(|_| {
            data.zeroize();
            Error::Authentication
        })
    }
}
