//! tls-auth: an HMAC over long id, header and body. On the wire it is between header and long id.

use std::fmt;

use aws_lc_rs::hmac;

use crate::proto::Error;
use crate::proto::data::Digest;
use crate::proto::packet_id::{LongId, LongReplayWindow};
use crate::proto::static_key::{Direction, StaticKey};
use crate::proto::wire::{Control, HEADER_LEN};

/// Keys for both directions.
pub(super) struct Keys {
    send: hmac::Key,
    receive: hmac::Key,
    tag_len: usize,
}

impl Keys {
    pub(super) fn new(key: &StaticKey, direction: Option<Direction>, digest: Digest) -> Self {
        let (send, receive) = Direction::halves(direction);
        let tag_len = digest.length();
        let key = |half| hmac::Key::new(digest.hmac(), &key.hmac(half)[..tag_len]);
        Self { send: key(send), receive: key(receive), tag_len }
    }

    pub(super) fn overhead(&self) -> usize {
        self.tag_len + LongId::LEN
    }

    /// Appends tag, id and body to the header in `out`.
    pub(super) fn seal(&self, id: LongId, packet: &Control<'_>, out: &mut Vec<u8>) {
        out.resize(HEADER_LEN + self.tag_len, 0);
        out.extend_from_slice(&id.to_bytes());
        packet.write_body(out);
        let (header, rest) = out.split_at_mut(HEADER_LEN);
        let (place, protected) = rest.split_at_mut(self.tag_len);
        place.copy_from_slice(tag(&self.send, header, protected).as_ref());
    }

    /// Verifies a packet and returns its id and body.
    pub(super) fn open<'a>(
        &self,
        packet: &'a [u8],
        window: &LongReplayWindow,
    ) -> Result<(LongId, &'a [u8]), Error> {
        let (header, rest) = packet.split_at_checked(HEADER_LEN).ok_or(Error::Short)?;
        let (claimed, protected) = rest.split_at_checked(self.tag_len).ok_or(Error::Short)?;
        let (id, body) = protected.split_first_chunk().ok_or(Error::Short)?;
        let id = LongId::from_bytes(id);
        window.check(id)?;
        let tag = tag(&self.receive, header, protected);
        aws_lc_rs::constant_time::verify_slices_are_equal(tag.as_ref(), claimed)
            .map_err(|_| Error::Authentication)?;
        Ok((id, body))
    }
}

/// Computes the tag. `protected` is the id and the body; the id is hashed before the header.
fn tag(key: &hmac::Key, header: &[u8], protected: &[u8]) -> hmac::Tag {
    let (id, body) = protected.split_at(LongId::LEN);
    let mut context = hmac::Context::with_key(key);
    context.update(id);
    context.update(header);
    context.update(body);
    context.sign()
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tls-auth")
    }
}
