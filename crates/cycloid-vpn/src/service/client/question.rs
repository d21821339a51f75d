//! A question of the server during a pending authentication (`CR_TEXT`), asked at the terminal
//! while the connection goes on.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use base64ct::{Base64, Encoding};
use rustix::event::{EventfdFlags, eventfd};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use super::Program;
use crate::proto::client::ClientSettings;
use crate::proto::message::TextChallenge;
use crate::service::{Failure, Person};

/// A question that is being asked.
pub(super) struct Question {
    answer: Receiver<Result<Zeroizing<String>, Failure>>,
    ready: Arc<OwnedFd>,
    /// The terminal's settings, to be restored if nobody answers in time.
    terminal: Option<Termios>,
}

impl AsFd for Question {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        if let Some(terminal) = &self.terminal {
            // A failure means that the terminal is gone.
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, terminal);
        }
    }
}

impl Program<'_> {
    /// Announces that questions can be asked at the terminal (`IV_SSO=crtext`), unless the file
    /// says what can be done.
    pub(super) fn announce_questions(
        &self,
        settings: &mut ClientSettings,
        person: &mut dyn Person,
    ) {
        let says = settings.peer_info.iter().any(|(name, _)| name == "IV_SSO");
        if self.config.credentials.is_some() && !says && person.is_present() {
            settings.peer_info.push(("IV_SSO".into(), "crtext".into()));
        }
    }

    /// Asks the question of a challenge, unless the management interface does so or an earlier
    /// question is still open.
    pub(super) fn pose(&mut self, challenge: &TextChallenge<'_>, person: &mut dyn Person) {
        let options = self.config.common.management.as_ref().map(|it| &it.options);
        let by_manager = options.is_some_and(|options| options.query_passwords);
        if by_manager || !challenge.required || self.question.is_some() || !person.is_present() {
            return;
        }
        let Ok(ready) = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK) else { return };
        let (ready, (sender, answer)) = (Arc::new(ready), channel());
        let ask = person.later(challenge.question, challenge.echo);
        let terminal = tcgetattr(std::io::stdin()).ok();
        let signal = Arc::clone(&ready);
        let thread = std::thread::Builder::new().name("question".into()).spawn(move || {
            // The client may have ended meanwhile.
            let _ = sender.send(ask());
            let _ = rustix::io::write(&*signal, &1_u64.to_ne_bytes());
        });
        if thread.is_ok() {
            self.question = Some(Question { answer, ready, terminal });
        }
    }

    /// Returns the answer for the server, in Base64, once it is there.
    pub(super) fn take_answer(&mut self) -> Option<Zeroizing<String>> {
        let answer = match self.question.as_ref()?.answer.try_recv() {
            Err(TryRecvError::Empty) => return None,
            Ok(answer) => Some(answer),
            Err(TryRecvError::Disconnected) => None,
        };
        self.question = None;
        match answer? {
            Ok(text) => Some(Zeroizing::new(Base64::encode_string(text.as_bytes()))),
            Err(failure) => {
                self.warn(&failure.to_string());
                None
            }
        }
    }
}
