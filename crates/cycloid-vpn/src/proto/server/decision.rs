//! Applies the caller's decision about a client, and sends the client's options.

use std::net::SocketAddr;
use std::time::Duration;

use zeroize::Zeroizing;

use super::peer::{PeerSink, Stage};
use super::{PeerConnected, PeerId, Server, ServerEnd, ServerNotice, ServerSettings, ServerSink};
use crate::proto::agreement::{Agreement, Ciphers};
use crate::proto::data::Framing;
use crate::proto::message::Message;
use crate::proto::peer_info::protocol;
use crate::proto::push::{self, PushReply, PushUpdate};
use crate::proto::tunnel::DataChannel;
use crate::proto::wire::KeyId;
use crate::proto::{Error, Now, Role, Transport};

/// How long a refusal is retransmitted.
const REFUSAL_TIME: Duration = Duration::from_secs(5);

impl Server {
    /// Admits the client with these options. After a renegotiation, lets it continue; it then only
    /// receives a new token.
    pub fn accept(
        &mut self,
        now: Now,
        id: PeerId,
        reply: PushReply,
        sink: &mut dyn ServerSink,
    ) -> Result<(), Error> {
        let many = self.settings.many;
        let Some(peer) = self.peer_mut(id) else {
            return Err(Error::Unexpected("the peer has left"));
        };
        let Stage::Verifying(key_id) = peer.stage else {
            return Err(Error::Unexpected("no decision was pending"));
        };
        if !many && peer.pushed.is_none() {
            return self.join(now, id, key_id, sink);
        }
        let mut outcome = peer.tunnel.answer(key_id);
        if outcome.is_ok() && peer.pushed.is_some() {
            peer.stage = Stage::Up;
            let mut own = PeerSink { sink, peer: id, address: peer.address };
            outcome = peer.tunnel.promote(now, &mut own);
            if let Some(token) = &reply.auth_token
                && outcome.is_ok()
            {
                let text = Zeroizing::new(format!("PUSH_REPLY,auth-token {}", **token));
                outcome = peer.tunnel.send_text(&text);
            }
            sink.notify(id, ServerNotice::Renegotiated);
        } else if outcome.is_ok() {
            peer.stage = Stage::Accepted(Box::new(reply));
            // A client with `REQUEST_PUSH` gets its options without a request.
            if peer.info.protocol() & protocol::REQUEST_PUSH != 0 {
                outcome = self.push(now, id, sink);
            }
        }
        self.settle(now, id, outcome, sink);
        Ok(())
    }

    /// Admits the single peer of a point-to-point server. Its capabilities are known, so the data
    /// channel opens at once.
    fn join(
        &mut self,
        now: Now,
        id: PeerId,
        key_id: KeyId,
        sink: &mut dyn ServerSink,
    ) -> Result<(), Error> {
        let peer = self.peers[id.0 as usize].as_mut().expect("the peer exists");
        let ciphers = ciphers(&self.settings);
        let exported = || peer.tunnel.exported_peer_id();
        let agreed = Agreement::reach(Role::Server, &ciphers, &peer.info, &peer.options, exported);
        let agreed = match agreed {
            Ok(agreed) => agreed,
            Err(error) => {
                self.reject(now, id, "", sink);
                return Err(error);
            }
        };
        let outcome = peer
            .tunnel
            .answer(key_id)
            .and_then(|()| self.open(now, id, &agreed, self.settings.framing, Vec::new(), sink));
        self.settle(now, id, outcome, sink);
        Ok(())
    }

    /// Refuses the client. Sends `reason` if the client can read it.
    pub fn reject(&mut self, now: Now, id: PeerId, reason: &str, sink: &mut dyn ServerSink) {
        let many = self.settings.many;
        let Some(peer) = self.peer_mut(id) else { return };
        let Stage::Verifying(key_id) = peer.stage else { return };
        if !many {
            // A peer without push waits only for the key exchange's answer, so the session is
            // aborted.
            peer.tunnel.abandon();
            peer.stage = Stage::Rejected;
            peer.tunnel.end_at(now.monotonic + REFUSAL_TIME);
            return self.settle(now, id, Ok(()), sink);
        }
        // A client that does not know temporary refusals would show the advice as the reason.
        let knows_advice = peer.info.protocol() & protocol::AUTH_FAIL_TEMP != 0;
        let reason = if knows_advice { reason } else { without_advice(reason) };
        // The key exchange is completed so that the client can read the refusal; no data key is
        // derived.
        let text = if reason.is_empty() {
            "AUTH_FAILED".to_owned()
        } else {
            format!("AUTH_FAILED,{reason}")
        };
        let outcome =
            peer.tunnel.answer(key_id).and_then(|()| peer.tunnel.send_text_by(key_id, &text));
        peer.stage = Stage::Rejected;
        peer.tunnel.end_at(now.monotonic + REFUSAL_TIME);
        self.settle(now, id, outcome, sink);
    }

    /// Defers the decision: tells the client to wait and for what. Extends its deadline to
    /// `pending` from now, regardless of the handshake's time limit.
    pub fn defer(
        &mut self,
        now: Now,
        id: PeerId,
        pending: Duration,
        info: Option<&str>,
        sink: &mut dyn ServerSink,
    ) {
        let Some(peer) = self.peer_mut(id) else { return };
        if let Stage::Verifying(key_id) = peer.stage {
            let text = format!("AUTH_PENDING,timeout {}", pending.as_secs());
            let info = info.map(|info| format!("INFO_PRE,{info}"));
            // A client reads texts only after the answer. For a new client the answer opens
            // nothing. A renegotiating client would use the key at once, so it gets the text over
            // its existing session.
            let answered = match peer.pushed {
                None => peer.tunnel.answer(key_id),
                Some(_) => Ok(()),
            };
            let outcome = answered.and_then(|()| {
                info.iter().chain([&text]).try_for_each(|text| peer.tunnel.send_text(text))
            });
            peer.tunnel.wait_until(now.monotonic + pending);
            self.settle(now, id, outcome, sink);
        }
    }

    /// Changes options of a running session. Returns whether the client supports that.
    pub fn update(
        &mut self,
        now: Now,
        id: PeerId,
        update: &PushUpdate,
        sink: &mut dyn ServerSink,
    ) -> bool {
        let Some(peer) = self.peer_mut(id) else { return false };
        let is_up = matches!(peer.stage, Stage::Up | Stage::Verifying(_)) && peer.pushed.is_some();
        if !is_up || peer.info.protocol() & protocol::PUSH_UPDATE == 0 {
            return false;
        }
        let texts = update.to_texts();
        let outcome = texts.iter().try_for_each(|text| peer.tunnel.send_text(text));
        self.settle(now, id, outcome, sink);
        true
    }

    /// Sends the options, and opens the data channel if necessary.
    pub(super) fn push(
        &mut self,
        now: Now,
        id: PeerId,
        sink: &mut dyn ServerSink,
    ) -> Result<(), Error> {
        let settings = &self.settings;
        let peer = self.peers[id.0 as usize].as_mut().expect("the peer exists");
        let mut reply = match &mut peer.stage {
            Stage::Accepted(reply) => std::mem::take(&mut **reply),
            // A client that sends requests faster than it reads answers would make the queue grow.
            Stage::Up if !peer.tunnel.is_idle() => return Ok(()),
            Stage::Up => {
                let sent = peer.pushed.iter().flatten();
                return sent.into_iter().try_for_each(|text| peer.tunnel.send_text(text));
            }
            // Nothing is sent before the client is accepted (CVE-2020-15078).
            Stage::Connecting | Stage::Verifying(_) | Stage::Rejected => return Ok(()),
        };
        let chosen = ciphers(settings).choose(Role::Server, &peer.info, &peer.options);
        let Some(cipher) = chosen else {
            peer.tunnel.send_text(
                "AUTH_FAILED,Data channel cipher negotiation failed (no shared cipher)",
            )?;
            peer.stage = Stage::Rejected;
            peer.tunnel.end_at(now.monotonic + REFUSAL_TIME);
            return Ok(());
        };
        let offers = peer.info.protocol();
        let offered = |bits: u32| offers & bits == bits;
        reply.peer_id = offered(protocol::DATA_V2).then_some(id.0);
        reply.cipher = Some(cipher.name().to_owned());
        reply.protocol = push::Protocol {
            cc_exit: offered(protocol::CC_EXIT_NOTIFY),
            tls_ekm: offered(protocol::TLS_KEY_EXPORT),
            dynamic_tls_crypt: offered(protocol::DYNAMIC_TLS_CRYPT | protocol::TLS_KEY_EXPORT),
            aead_epoch: settings.epochs
                && cipher.is_aead()
                && offered(protocol::DATA_EPOCH | protocol::DATA_V2 | protocol::TLS_KEY_EXPORT),
        };
        let agreed = Agreement::pushed(cipher, &reply);
        let texts = reply.to_texts();
        for text in &texts {
            peer.tunnel.send_text(text)?;
        }
        let framing = reply.framing.unwrap_or(settings.framing);
        self.open(now, id, &agreed, framing, texts, sink)
    }

    /// Opens the data channel. In point-to-point mode, replaces the previous peer.
    fn open(
        &mut self,
        now: Now,
        id: PeerId,
        agreed: &Agreement,
        framing: Framing,
        texts: Vec<Zeroizing<String>>,
        sink: &mut dyn ServerSink,
    ) -> Result<(), Error> {
        let settings = &self.settings;
        let peer = self.peers[id.0 as usize].as_mut().expect("the peer exists");
        let Agreement { cipher, peer_id, by_exporter, dynamic, epochs, exit_by_control } = *agreed;
        let channel = DataChannel {
            cipher,
            peer_id,
            by_exporter,
            epochs,
            framing,
            fragment: settings.fragment.filter(|_| peer.transport == Transport::Udp),
            decompress: settings.decompress,
            offload: false,
            replay_window: match peer.transport {
                Transport::Udp => settings.replay_window,
                Transport::Tcp => 0,
            },
        };
        let mut own = PeerSink { sink, peer: id, address: peer.address };
        peer.tunnel.open_channel(now, channel, dynamic, &mut own)?;
        peer.stage = Stage::Up;
        peer.pushed = Some(texts.into_iter().map(exact).collect());
        peer.exit_by_control = exit_by_control;
        let address = peer.address;
        self.replace_others(id, address, sink);
        let connected = PeerConnected { address, cipher };
        sink.notify(id, ServerNotice::Connected(Box::new(connected)));
        Ok(())
    }

    /// Ends earlier peers at this address; in point-to-point mode, the earlier peer at any address.
    fn replace_others(&mut self, id: PeerId, address: SocketAddr, sink: &mut dyn ServerSink) {
        let many = self.settings.many;
        let others: Vec<PeerId> = self
            .sessions
            .iter()
            .filter(|((at, _), other)| **other != id && (!many || *at == address))
            .map(|(_, &id)| id)
            .filter(|&id| self.peer(id).is_some_and(|peer| peer.pushed.is_some()))
            .collect();
        for other in others {
            self.end(other, ServerEnd::Replaced, sink);
        }
    }
}

/// Returns the text in a buffer without spare room. The longer buffer is wiped.
fn exact(text: Zeroizing<String>) -> Zeroizing<String> {
    Zeroizing::new(text.as_str().to_owned())
}

fn ciphers(settings: &ServerSettings) -> Ciphers<'_> {
    let ServerSettings { ciphers, fallback, digest, epochs, .. } = settings;
    Ciphers { list: ciphers, fallback: *fallback, digest: *digest, epochs: *epochs }
}

/// Returns a refusal's reason without `TEMP` and the advice for the next attempt.
fn without_advice(reason: &str) -> &str {
    match Message::auth_failed(reason) {
        Message::AuthFailed { reason, .. } => reason,
        _ => reason,
    }
}
