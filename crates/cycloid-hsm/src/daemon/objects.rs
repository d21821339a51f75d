//! Requests that find, read, create, change and destroy objects.

use std::sync::Arc;

use super::application::Application;
use super::handler::{Asked, Daemon, needs};
use super::token::describe;
use crate::attribute::{Template, cka, ckk, cko};
use crate::key::PrivateKey;
use crate::mechanism::ckm;
use crate::object::build::Origin;
use crate::object::{self, New, Object, Seen, build, change};
use crate::rpc::message::{AttributeValue, Mechanism, Response};
use crate::rpc::{Bytes, Page, Role, Secret, frame};
use crate::store::encoding::Value;
use crate::{Code, Error, Result};

use getrandom::SysRng;
use rand_core::UnwrapErr;

/// The minimum length of a value in an answer: an array of a number, a code and bytes.
const SHORTEST_VALUE: usize = 4;

/// The maximum number of objects in a page, which fits in a message.
const LONGEST_PAGE: usize = 1 << 16;

impl Daemon {
    /// Finds objects: stored ones first, because the handles of those in memory are greater. So a
    /// page takes a bounded amount of memory, and the next one begins where it ended, at any daemon
    /// and whatever was destroyed meanwhile.
    pub(super) fn find(
        &self,
        application: &Application,
        template: &Template,
        page: Option<Page>,
    ) -> Result<Response> {
        let (after, most) = match page {
            Some(Page { after, most }) => (after, (most as usize).clamp(1, LONGEST_PAGE)),
            // An object takes at least a byte, so more would not fit in a message.
            None => (0, frame::MAX_LENGTH),
        };
        // Otherwise a search would confirm a guess.
        let hides = |object: &Object| template.iter().any(|(of, _)| application.hides(object, of));
        let visible = |object: &Object| application.sees(object) && !hides(object);
        let mut objects = self.token.find(template, after, most + 1, visible);
        objects.extend(application.find(template, after, most + 1 - objects.len()));
        let more = objects.len() > most;
        if more && page.is_none() {
            return Err(Code::DEVICE_MEMORY.because("more objects than a message can name"));
        }
        objects.truncate(most);
        Ok(Response::Objects { objects, more: more.then_some(true) })
    }

    pub(super) fn attributes(
        &self,
        application: &Application,
        id: u64,
        numbers: &[u32],
    ) -> Result<Response> {
        let object = self.object(application, id, Code::OBJECT_HANDLE_INVALID)?;
        let mut secret: Option<Template> = None;
        let (mut values, mut length) = (Vec::new(), 0);
        for &number in numbers {
            let (code, value) = match object.see(number) {
                _ if application.hides(&object, number) => {
                    (Code::ATTRIBUTE_SENSITIVE.0, Vec::new())
                }
                Seen::Value(value) => (0, value.to_vec()),
                Seen::Absent => (Code::ATTRIBUTE_TYPE_INVALID.0, Vec::new()),
                Seen::Sensitive => (Code::ATTRIBUTE_SENSITIVE.0, Vec::new()),
                // An auditor sees no secret, even of a key that the user may read.
                Seen::InSecret if application.role() == Some(Role::Auditor) => {
                    (Code::ATTRIBUTE_SENSITIVE.0, Vec::new())
                }
                Seen::InSecret => {
                    if secret.is_none() {
                        let bytes = self.token.secret(&object)?;
                        secret = Some(object::secret_attributes(&object, &bytes)?);
                    }
                    match secret.as_ref().and_then(|secret| secret.get(number)) {
                        Some(value) => (0, value.to_vec()),
                        None => (Code::ATTRIBUTE_TYPE_INVALID.0, Vec::new()),
                    }
                }
            };
            // A few bytes of a request can ask for the same long value again and again.
            length += value.len() + SHORTEST_VALUE;
            if length > frame::MAX_LENGTH {
                return Err(
                    Code::DEVICE_MEMORY.because("the attributes are longer than a message can be")
                );
            }
            values.push(AttributeValue { number, code, value: Bytes(value) });
        }
        Ok(Response::Attributes { values })
    }

    pub(super) fn size(&self, application: &Application, id: u64) -> Result<Response> {
        let object = self.object(application, id, Code::OBJECT_HANDLE_INVALID)?;
        let mut bytes = Vec::new();
        object.attributes.write(&mut bytes);
        Ok(Response::Number { value: bytes.len() as u64 })
    }

    /// Checks whether the application may create or change such an object.
    fn may_write(&self, application: &Application, attributes: &Template) -> Result<()> {
        if application.role() == Some(Role::Auditor) {
            return Err(Code::TOKEN_WRITE_PROTECTED.because("an auditor may not change anything"));
        }
        if attributes.is(cka::PRIVATE) || attributes.is(cka::TOKEN) {
            // The officer also manages public objects, such as certificates.
            if !attributes.is(cka::PRIVATE) && application.role() == Some(Role::SecurityOfficer) {
                return Ok(());
            }
            needs(application, Role::User)?;
        }
        Ok(())
    }

    /// Stores a new object, or keeps it in memory, as its template says.
    pub(super) fn keep(&self, application: &Application, new: New, how: &str) -> Result<u64> {
        self.permissions.check_length(&new.attributes)?;
        self.may_write(application, &new.attributes)?;
        if !new.attributes.is(cka::TOKEN) {
            return application.insert(new);
        }
        self.token.insert(&new, &application.who(), how)
    }

    pub(super) fn create(self: &Arc<Self>, asked: Asked, template: Template) {
        // Permission is checked before the slow check of a Diffie-Hellman group, and again before
        // the object is stored.
        let mut wanted = template.clone();
        if template.number(cka::CLASS) == Ok(Some(cko::PRIVATE_KEY.into())) {
            wanted.set_default(cka::PRIVATE, [1]);
        }
        if let Err(error) = self.may_write(&asked.application, &wanted) {
            return asked.reply.send(Err(error));
        }
        if template.number(cka::KEY_TYPE) != Ok(Some(ckk::DH.into())) {
            return self.later(asked, move |daemon, application| {
                daemon.keep_created(application, build::created(template, application.role())?)
            });
        }
        self.compute(asked, move |daemon, asked| {
            let new = build::created(template, None);
            daemon.later(asked, move |daemon, application| daemon.keep_created(application, new?));
        });
    }

    fn keep_created(&self, application: &Application, new: New) -> Result<Response> {
        let object = self.keep(application, new, "created")?;
        Ok(Response::Object { object })
    }

    /// Imports both halves of a private key, which was known outside.
    pub(super) fn import(self: &Arc<Self>, asked: Asked, pem: Secret, template: Template) {
        // Only the user stores private keys, and slow work is not for everybody.
        if let Err(error) = needs(&asked.application, Role::User) {
            return asked.reply.send(Err(error));
        }
        self.compute(asked, move |daemon, asked| {
            let pair = PrivateKey::from_pem(&pem)
                .and_then(|key| build::pair(template.clone(), template, &key, Origin::Given));
            daemon.later(asked, move |daemon, application| {
                let (public, private) = pair?;
                daemon.keep_pair(application, public, private, "imported")
            });
        });
    }

    pub(super) fn copy(
        &self,
        application: &Application,
        id: u64,
        changes: &Template,
    ) -> Result<Response> {
        let original = self.object(application, id, Code::OBJECT_HANDLE_INVALID)?;
        let secret = match original.has_secret() {
            true => Some(self.token.secret(&original)?),
            false => None,
        };
        let copy = change::copied(&original, changes, secret.as_deref().map(Vec::as_slice))?;
        let how = format!("copied from {}", describe(&original));
        let in_memory = !copy.attributes.is(cka::TOKEN);
        let object = self.keep(application, copy, &how)?;
        if in_memory && original.has_secret() {
            // The log of uses names the copy's handle alone.
            let what = format!("{}: copied to object {object} in memory", describe(&original));
            self.note(application, &what).inspect_err(|_| {
                application.remove(object);
            })?;
        }
        Ok(Response::Object { object })
    }

    pub(super) fn set_attributes(
        &self,
        application: &Application,
        id: u64,
        changes: &Template,
    ) -> Result<Response> {
        let object = self.object(application, id, Code::OBJECT_HANDLE_INVALID)?;
        let attributes = change::changed(&object, changes, application.role())?;
        self.may_write(application, &object.attributes)?;
        if attributes.is(cka::TRUSTED) && !object.attributes.is(cka::TRUSTED) {
            self.token.serve_keys(&object, &application.who())?;
        }
        if object.is_stored() {
            self.token.update(&object, &attributes, &application.who())?;
        } else {
            application.replace(Object {
                id,
                version: object.version + 1,
                attributes,
                session_secret: object.session_secret.clone(),
                session_key: object.session_key.clone(),
                fingerprint: object.fingerprint.clone(),
            })?;
        }
        Ok(Response::Done {})
    }

    pub(super) fn destroy(&self, application: &Application, id: u64) -> Result<Response> {
        let object = self.object(application, id, Code::OBJECT_HANDLE_INVALID)?;
        // One in memory ends with its session, which only the module knows.
        if object.is_stored() && !object.attributes.is(cka::DESTROYABLE) {
            return Err(Code::ACTION_PROHIBITED.because("the object cannot be destroyed"));
        }
        self.may_write(application, &object.attributes)?;
        if object.is_stored() {
            self.token.delete(&object, &application.who())?;
        } else {
            application.remove(id);
        }
        Ok(Response::Done {})
    }

    pub(super) fn generate(
        self: &Arc<Self>,
        asked: Asked,
        mechanism: Mechanism,
        template: Template,
    ) {
        if mechanism.number == ckm::PKCS5_PBKD2 {
            return self.generate_from_password(asked, mechanism, template);
        }
        self.later(asked, move |daemon, application| {
            let new = build::generated(mechanism.number, template, &mut UnwrapErr(SysRng))?;
            let object = daemon.keep(application, new, "generated")?;
            Ok(Response::Object { object })
        });
    }

    pub(super) fn generate_pair(
        self: &Arc<Self>,
        asked: Asked,
        mechanism: Mechanism,
        public: Template,
        private: Template,
    ) {
        // Permission is checked before the slow search for primes, and again before the pair is
        // stored.
        let mut wanted = private.clone();
        wanted.set_default(cka::PRIVATE, [1]);
        let permitted = [&public, &wanted]
            .into_iter()
            .try_for_each(|attributes| self.may_write(&asked.application, attributes))
            .and_then(|()| self.may_generate(mechanism.number, &public));
        if let Err(error) = permitted {
            return asked.reply.send(Err(error));
        }
        self.compute(asked, move |daemon, asked| {
            let rng = &mut UnwrapErr(SysRng);
            let pair = build::generated_pair(mechanism.number, public, private, rng);
            daemon.later(asked, move |daemon, application| {
                let (public, private) = pair?;
                daemon.keep_pair(application, public, private, "generated")
            });
        });
    }

    /// Checks that an RSA key of the length that a template requests may be generated.
    fn may_generate(&self, mechanism: u32, public: &Template) -> Result<()> {
        let bits = public.number(cka::MODULUS_BITS)?.map(usize::try_from);
        match (mechanism, bits) {
            (ckm::RSA_PKCS_KEY_PAIR_GEN, Some(Ok(bits))) => self.permissions.check_bits(bits),
            _ => Ok(()),
        }
    }

    /// Stores both halves of a key, or keeps them in memory, as their templates say; two stored
    /// halves are written in one transaction.
    fn keep_pair(
        &self,
        application: &Application,
        public: New,
        private: New,
        how: &str,
    ) -> Result<Response> {
        self.permissions.check_length(&private.attributes)?;
        self.may_write(application, &public.attributes)?;
        self.may_write(application, &private.attributes)?;
        let is_stored = |new: &New| new.attributes.is(cka::TOKEN);
        // A half in memory comes first: it is dropped again if the other half is refused.
        let drop_half = |half| {
            move |_: &Error| {
                application.remove(half);
            }
        };
        let (public, private) = match (is_stored(&public), is_stored(&private)) {
            (true, true) => self.token.insert_pair(&public, &private, &application.who(), how)?,
            (true, false) => {
                let private = self.keep(application, private, how)?;
                let public = self.keep(application, public, how);
                (public.inspect_err(drop_half(private))?, private)
            }
            (false, _) => {
                let public = self.keep(application, public, how)?;
                let private = self.keep(application, private, how);
                (public, private.inspect_err(drop_half(public))?)
            }
        };
        Ok(Response::Pair { public, private })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::daemon::application::{Applications, Peer};
    use crate::daemon::token::Token;
    use crate::store::tests::Place;

    /// An answer with all of them would be too long: a handle takes up to five bytes here.
    #[test]
    fn pages_find_more_objects_than_a_message_can_name() {
        const COUNT: u64 = 240_000;
        let place = Place::sqlite();
        let token = Token::new(place.create(), 0, Duration::MAX).unwrap();
        (1..=COUNT).for_each(|id| token.pretend(Object::new(id, 1, Template::new(), None)));
        let daemon = Daemon::new(token, 1, Default::default());
        let (application, _) = Applications::default().welcome("test", Peer::User(7));
        let in_memory = New { attributes: Template::new(), secret: None };
        let in_memory = application.insert(in_memory).unwrap();
        let length = |response: &Response| {
            let mut bytes = Vec::new();
            response.write(&mut bytes);
            bytes.len() + 4
        };
        let find = |page| daemon.find(&application, &Template::new(), page).unwrap();
        assert!(length(&find(None)) > frame::MAX_LENGTH);
        let (mut found, mut after) = (Vec::new(), 0);
        loop {
            let page = find(Some(Page { after, most: u32::MAX }));
            assert!(length(&page) <= frame::MAX_LENGTH);
            let Response::Objects { objects, more } = page else { panic!("{page:?}") };
            found.extend(objects);
            after = *found.last().unwrap();
            if more != Some(true) {
                break;
            }
        }
        assert!(found.iter().copied().eq((1..=COUNT).chain([in_memory])));
    }
}
