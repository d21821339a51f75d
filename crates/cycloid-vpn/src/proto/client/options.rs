//! The options that the server pushes.

use super::{COMPRESSES, Client, ClientEnd, ClientNotice, Stage};
use crate::proto::agreement::Agreement;
use crate::proto::data::Cipher;
use crate::proto::push::{PushParser, PushReply};
use crate::proto::tunnel::Sink;
use crate::proto::{Error, Now};

impl Client {
    /// Takes a part of the push reply.
    pub(super) fn take_options(
        &mut self,
        now: Now,
        options: &str,
        sink: &mut dyn Sink,
        notify: &mut dyn FnMut(ClientNotice),
    ) -> Result<(), Error> {
        let filter = &self.settings.filter;
        let keep = |option: &str| filter.keeps(option);
        let asking = matches!(self.stage, Stage::Asking { .. });
        // A renewed token, or the answer to a repeated request: the tunnel's options are already
        // final.
        let mut late = PushParser::default();
        let parser = if asking { &mut self.push } else { &mut late };
        match parser.take_if(options, keep) {
            Ok(Some(reply)) if asking => self.take_reply(now, reply, sink, notify),
            Ok(Some(reply)) => {
                self.take_token(&reply, notify);
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(error @ Error::Rejected(_)) => {
                self.reject(&error, notify);
                Ok(())
            }
            Err(error) if asking => Err(error),
            Err(_) => Ok(()),
        }
    }

    /// Leaves a server whose options the filter rejects, for the next address.
    fn reject(&mut self, error: &Error, notify: &mut dyn FnMut(ClientNotice)) {
        let end = ClientEnd::Restart { reason: error.to_string(), same_address: false };
        self.end(end, notify);
    }

    fn take_reply(
        &mut self,
        now: Now,
        reply: PushReply,
        sink: &mut dyn Sink,
        notify: &mut dyn FnMut(ClientNotice),
    ) -> Result<(), Error> {
        if reply.compresses && !self.settings.decompress {
            self.end(ClientEnd::Refused(COMPRESSES), notify);
            return Ok(());
        }
        let cipher = match &reply.cipher {
            Some(name) => Cipher::from_name(name, self.settings.digest)
                .filter(|cipher| {
                    self.settings.ciphers.contains(cipher)
                        || self.settings.fallback == Some(*cipher)
                })
                .ok_or_else(|| {
                    Error::Incompatible(format!(
                        "the server chose the cipher {name}, not in data-ciphers"
                    ))
                })?,
            None => self.settings.fallback.ok_or_else(no_cipher)?,
        };
        self.check_offload(&reply, cipher)?;
        self.take_times(&reply);
        self.take_token(&reply, notify);
        let possible = self.settings.epochs && reply.peer_id.is_some() && cipher.is_aead();
        if reply.protocol.aead_epoch && !possible {
            return Err(Error::Incompatible(
                "the server chose aead-epoch, which needs an AEAD cipher and a peer id".into(),
            ));
        }
        let agreed = Agreement::pushed(cipher, &reply);
        self.open(now, &agreed, reply, sink, notify)
    }

    /// Changes options of the running session. A change that it cannot make ends the connection, so
    /// that another one begins with all options.
    pub(super) fn take_update(
        &mut self,
        options: &str,
        notify: &mut dyn FnMut(ClientNotice),
    ) -> Result<(), Error> {
        if self.stage != Stage::Up || !self.settings.pull {
            return Ok(());
        }
        let filter = &self.settings.filter;
        let update = match self.updates.take_if(options, |option| filter.keeps(option)) {
            Ok(Some(update)) => self.current.updated(&update),
            Ok(None) => return Ok(()),
            Err(error) => Err(error),
        };
        match update {
            Ok(reply) => {
                self.take_times(&reply);
                self.current = reply.clone();
                notify(ClientNotice::Updated(Box::new(reply)));
            }
            Err(error @ Error::Rejected(_)) => self.reject(&error, notify),
            Err(error) => {
                let end = ClientEnd::Restart { reason: error.to_string(), same_address: true };
                self.end(end, notify);
            }
        }
        Ok(())
    }

    /// Stores the token that replaces the password from now on.
    fn take_token(&mut self, reply: &PushReply, notify: &mut dyn FnMut(ClientNotice)) {
        let Some(token) = &reply.auth_token else { return };
        let user = match (&reply.auth_token_user, &self.credentials) {
            (Some(user), _) => user.clone(),
            (None, Some((user, _))) => user.clone(),
            (None, None) => String::new(),
        };
        self.credentials = Some((user.clone(), token.clone()));
        self.tunnel.own_hello_mut().credentials.clone_from(&self.credentials);
        notify(ClientNotice::Token(user, token.clone()));
    }
}

fn no_cipher() -> Error {
    Error::Incompatible("the server names no cipher, and data-ciphers-fallback is not set".into())
}
