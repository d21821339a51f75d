//! Session tokens in place of passwords (`auth-gen-token`): a valid token replaces the password
//! check.
//!
//! With `external-auth`, scripts and the management interface still decide, and get the token's
//! validity in `session_state`.

use zeroize::Zeroizing;

use super::Program;
use super::waiting::{Admission, Refusal};
use crate::proto::Now;
use crate::proto::auth_token::{TokenOutcome, TokenSession, Tokens};
use crate::proto::server::PeerId;
use crate::service::random;

impl Program<'_> {
    /// Returns whether a token replaces the password check.
    pub(super) fn token_is_enough(
        &mut self,
        id: PeerId,
        admission: &mut Admission,
        now: Now,
    ) -> Result<bool, Refusal> {
        let (Some(tokens), Some(wanted)) = (&self.tokens, &self.config.auth_token) else {
            return Ok(false);
        };
        let verify = &admission.verify;
        let known = self.peers.get(&id).and_then(|peer| peer.session);
        let (state, wrong) = if !Tokens::is_token(&verify.password) {
            ("Initial", None)
        } else {
            match tokens.judge(now, &verify.username, &verify.password) {
                TokenOutcome::Good(session) if known.is_none_or(|known| known == session) => {
                    admission.session = Some(session);
                    ("Authenticated", None)
                }
                TokenOutcome::Expired => ("Expired", Some("the token is expired")),
                TokenOutcome::Good(_) | TokenOutcome::Forged => {
                    ("Invalid", Some("the token is not this client's"))
                }
            }
        };
        admission.environment.set("session_state", state);
        if let Some(session) = admission.session.or(known) {
            admission.environment.set("session_id", session.id());
        }
        match wrong {
            _ if wanted.external => Ok(false),
            None => Ok(admission.session.is_some()),
            // A client that receives `SESSION:` drops the token and sends the password again.
            Some(why) => {
                Err(Refusal { why: why.into(), for_client: Some(format!("SESSION:{why}")) })
            }
        }
    }

    /// Creates the token that replaces the client's password from now on.
    pub(super) fn token_for(
        &mut self,
        id: PeerId,
        admission: &Admission,
        now: Now,
    ) -> Option<Zeroizing<String>> {
        let tokens = self.tokens.as_ref()?;
        let user = Some(admission.verify.username.as_str()).filter(|user| !user.is_empty())?;
        let peer = self.peers.get_mut(&id)?;
        let session = admission.session.or(peer.session);
        let session = session.unwrap_or_else(|| TokenSession::begin(now, &mut random));
        peer.session = Some(session);
        Some(tokens.make(now, user, &session))
    }
}
