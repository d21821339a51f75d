//! Challenges of a server: questions in addition to the password, such as one-time codes.
//!
//! | challenge | question from | answer |
//! |---|---|---|
//! | static | `static-challenge` | inside the password: `SCRV1:` and both in Base64 |
//! | dynamic | `AUTH_FAILED,CRV1:…` of a first attempt | a second attempt with the password `CRV1::STATE::ANSWER` |
//!
//! Source: OpenVPN's management interface notes, "Challenge/Response Protocol".

use base64ct::{Base64, Encoding};
use zeroize::Zeroizing;

use super::Program;
use crate::service::{Failure, Person};

/// A dynamic challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Challenge {
    /// Whether an answer is required; otherwise an empty one is sent.
    required: bool,
    /// Whether the answer may be shown.
    echo: bool,
    state: String,
    username: String,
    question: String,
}

impl Challenge {
    /// Parses the reason of a refusal. Returns `None` if it is not a challenge.
    pub(super) fn parse(reason: &str) -> Option<Self> {
        let mut parts = reason.strip_prefix("CRV1:")?.splitn(4, ':');
        let (flags, state) = (parts.next()?, parts.next()?);
        let username = Base64::decode_vec(parts.next()?).ok()?;
        let flag = |wanted| flags.split(',').any(|flag| flag == wanted);
        Some(Self {
            required: flag("R"),
            echo: flag("E"),
            state: state.to_owned(),
            username: String::from_utf8(username).ok()?,
            question: parts.next()?.to_owned(),
        })
    }

    /// Returns the user name and password of the next attempt.
    fn answered(&self, answer: &str) -> (String, Zeroizing<String>) {
        (self.username.clone(), Zeroizing::new(format!("CRV1::{}::{answer}", self.state)))
    }
}

/// Returns the password with the answer to a static challenge.
fn with_answer(password: &str, answer: &str) -> Zeroizing<String> {
    let encode = |text: &str| Zeroizing::new(Base64::encode_string(text.as_bytes()));
    Zeroizing::new(format!("SCRV1:{}:{}", *encode(password), *encode(answer)))
}

impl Program<'_> {
    /// Notes the challenge of a refusal. Returns whether it is one.
    pub(super) fn take_challenge(&mut self, reason: &str) -> bool {
        self.challenge = Challenge::parse(reason);
        if let Some(challenge) = &self.challenge {
            let text = format!("the server asks: {}", challenge.question);
            self.say(1, &text);
        }
        self.challenge.is_some()
    }

    /// Gets the answer to a dynamic challenge from the user. The management interface's user
    /// answers in place of the password.
    pub(super) fn answer_challenge(&mut self, person: &mut dyn Person) -> Result<(), Failure> {
        let Some(challenge) = self.challenge.take() else { return Ok(()) };
        let answer = match challenge.required {
            true => person.answer(&challenge.question, challenge.echo)?,
            false => Zeroizing::default(),
        };
        self.answered = Some(challenge.answered(&answer));
        Ok(())
    }

    /// Adds the answer to a static challenge to the password.
    pub(super) fn answer_static_challenge(
        &mut self,
        person: &mut dyn Person,
    ) -> Result<(), Failure> {
        if let (Some((question, echo)), Some((_, password))) =
            (&self.config.static_challenge, &mut self.credentials)
        {
            *password = with_answer(password, &person.answer(question, *echo)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dynamic_challenge_is_answered_in_place_of_the_password() {
        let reason = "CRV1:R,E:Om01u7Fh4LrGBS7uh0SWmzwabUiGiW6l:Y3Ix:Please enter token: PIN";
        let challenge = Challenge::parse(reason).unwrap();
        assert_eq!(
            challenge,
            Challenge {
                required: true,
                echo: true,
                state: "Om01u7Fh4LrGBS7uh0SWmzwabUiGiW6l".into(),
                username: "cr1".into(),
                question: "Please enter token: PIN".into(),
            }
        );
        let (username, password) = challenge.answered("8675309");
        assert_eq!(username, "cr1");
        assert_eq!(*password, "CRV1::Om01u7Fh4LrGBS7uh0SWmzwabUiGiW6l::8675309");
        assert!(!Challenge::parse("CRV1::x:Y3Ix:q").unwrap().required);
        for reason in ["", "wrong password", "CRV1:R", "CRV1:R:x:*:q", "CRV1:R:x:Y3Ix"] {
            assert_eq!(Challenge::parse(reason), None, "{reason}");
        }
    }

    /// The example of OpenVPN's notes.
    #[test]
    fn a_static_challenge_is_answered_inside_the_password() {
        assert_eq!(*with_answer("foobar", "8675309"), "SCRV1:Zm9vYmFy:ODY3NTMwOQ==");
    }
}
