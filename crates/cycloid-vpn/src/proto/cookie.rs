//! Stateless session ids: a server derives its session id by an HMAC of a client's first packet,
//! and so stores nothing until the client answers. Only a client that receives packets at its
//! claimed address can return the right id.
//!
//! Source: draft-openvpn-wire-protocol, "Stateless three-way handshake".

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use aws_lc_rs::hmac;
use subtle::{Choice, ConstantTimeEq};

use super::wire::SessionId;
use super::{Now, Random};

/// Number of earlier time slots that are still valid. A slot is half of the handshake window, so an
/// id is valid for one to one and a half windows.
const EARLIER_SLOTS: u64 = 2;

/// A server's secret for session ids.
pub struct CookieKey(hmac::Key);

impl CookieKey {
    /// Returns a random key. It needs to last only as long as the process.
    pub fn generate(random: &mut Random<'_>) -> Self {
        let mut bytes = zeroize::Zeroizing::new([0; 32]);
        random(&mut *bytes);
        Self(hmac::Key::new(hmac::HMAC_SHA256, &*bytes))
    }

    /// Returns the server's session id for a client at `peer` with the session id `client_session`.
    /// `hand_window` is the time limit of a handshake.
    pub fn session_id(
        &self,
        now: Now,
        hand_window: Duration,
        peer: SocketAddr,
        client_session: SessionId,
    ) -> SessionId {
        self.of_slot(slot(now, hand_window), peer, client_session)
    }

    /// Returns whether [`Self::session_id`] returned `offered` recently. Constant-time, because the
    /// right id is secret from guessers.
    pub fn verify(
        &self,
        now: Now,
        hand_window: Duration,
        peer: SocketAddr,
        client_session: SessionId,
        offered: SessionId,
    ) -> bool {
        let slot = slot(now, hand_window);
        // The clock never goes back, so no id is from a later slot.
        let mut good = Choice::from(0);
        for earlier in 0..=EARLIER_SLOTS {
            // The first slots have no predecessors; slot 0 is then tried repeatedly.
            let expected = self.of_slot(slot.saturating_sub(earlier), peer, client_session);
            good |= expected.as_bytes().ct_eq(offered.as_bytes());
        }
        good.into()
    }

    /// Returns a number that only this key's owner can find for an address.
    pub(super) fn fingerprint(&self, address: IpAddr) -> u32 {
        let mut context = hmac::Context::with_key(&self.0);
        context.update(b"fingerprint");
        context.update(&mapped(address).octets());
        let tag = context.sign();
        u32::from_be_bytes(*tag.as_ref().first_chunk().expect("a tag of 32 bytes"))
    }

    fn of_slot(&self, slot: u64, peer: SocketAddr, client_session: SessionId) -> SessionId {
        let mut context = hmac::Context::with_key(&self.0);
        context.update(&slot.to_be_bytes());
        context.update(&mapped(peer.ip()).octets());
        context.update(&peer.port().to_be_bytes());
        context.update(client_session.as_bytes());
        let tag = context.sign();
        let mut bytes = [0; SessionId::LEN];
        bytes.copy_from_slice(&tag.as_ref()[..SessionId::LEN]);
        // All zeros is not a valid session id; this occurs once in 2^64.
        SessionId::new(bytes)
            .or_else(|| SessionId::new([1; SessionId::LEN]))
            .expect("one of them is not zero")
    }
}

impl fmt::Debug for CookieKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CookieKey")
    }
}

/// Returns the address as IPv6.
fn mapped(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

fn slot(now: Now, hand_window: Duration) -> u64 {
    now.monotonic.as_secs() / hand_window.as_secs().div_ceil(2).max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WINDOW: Duration = Duration::from_secs(60);

    fn at(seconds: u64) -> Now {
        Now { monotonic: Duration::from_secs(seconds), unix: 0 }
    }

    fn key() -> CookieKey {
        CookieKey::generate(&mut |bytes| bytes.fill(9))
    }

    fn session(byte: u8) -> SessionId {
        SessionId::new([byte; 8]).expect("not zero")
    }

    fn peer(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn a_correct_cookie_is_accepted_and_a_spoofed_one_is_not() {
        let (peer, client) = (peer("192.0.2.1:1194"), session(3));
        let good = key().session_id(at(100), WINDOW, peer, client);
        assert!(key().verify(at(100), WINDOW, peer, client, good));
        // Guards against an inverted comparison.
        for byte in 1..=255 {
            assert!(!key().verify(at(100), WINDOW, peer, client, session(byte)));
        }
        for bit in 0..64 {
            let mut bytes = *good.as_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let forged = SessionId::new(bytes).expect("not zero");
            assert!(!key().verify(at(100), WINDOW, peer, client, forged), "{bit}");
        }
    }

    #[test]
    fn a_cookie_is_bound_to_address_port_session_and_key() {
        let client = session(3);
        let home = peer("192.0.2.1:1194");
        let good = key().session_id(at(100), WINDOW, home, client);
        for other in ["192.0.2.1:1195", "192.0.2.2:1194", "[2001:db8::1]:1194"] {
            assert!(!key().verify(at(100), WINDOW, peer(other), client, good), "{other}");
        }
        assert!(!key().verify(at(100), WINDOW, home, session(4), good));
        let other = CookieKey::generate(&mut |bytes| bytes.fill(8));
        assert!(!other.verify(at(100), WINDOW, home, client, good));
        // The same address, as a dual-stack socket reports it.
        assert!(key().verify(at(100), WINDOW, peer("[::ffff:192.0.2.1]:1194"), client, good));
    }

    #[test]
    fn a_cookie_ends_after_two_more_slots() {
        let (peer, client) = (peer("[2001:db8::1]:1194"), session(3));
        let good = key().session_id(at(300), WINDOW, peer, client);
        for (seconds, taken) in [(0, false), (269, false), (300, true), (389, true), (390, false)] {
            let verified = key().verify(at(seconds), WINDOW, peer, client, good);
            assert_eq!(verified, taken, "{seconds}");
        }
    }

    #[test]
    fn zero_length_windows_are_harmless() {
        let good = key().session_id(at(5), Duration::ZERO, peer("192.0.2.1:1"), session(3));
        assert!(key().verify(at(7), Duration::ZERO, peer("192.0.2.1:1"), session(3), good));
    }

    proptest! {
        #[test]
        fn guesses_fail(guess in 1..=u64::MAX, seconds in any::<u32>()) {
            let guess = SessionId::new(guess.to_be_bytes()).expect("not zero");
            let peer = peer("192.0.2.1:1194");
            prop_assert!(!key().verify(at(seconds.into()), WINDOW, peer, session(3), guess));
        }
    }
}
