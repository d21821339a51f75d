//! The policy as a specification that runs: what a logged-in user may do with keys, and what an
//! attacker who knows the user's PIN learns from it; and what somebody without a PIN cannot end.
//!
//! It is independent of the daemon's code. Cryptography is perfect here (Dolev and Yao, On the
//! security of public key protocols, 1983): a value is learnt by reading it, or from a wrapped key
//! together with the value that wrapped it or with a key that decrypts. So the model does not show
//! why an AES key that serves keys computes no message authentication code and derives nothing: to
//! encrypt blocks of one's own choice reveals nothing here. Other tests hold the daemon to that.

use crate::rules::{Policy, Rule};
use crate::values::{
    ELSEWHERE, FIRST_FREE, OWN_AES, OWN_RSA, SHARED, TRUSTED, VALUES, VICTIM, Value, Values,
    Wrapped,
};

/// The class of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Class {
    Secret,
    Public,
    Private,
}

/// The uses that a template requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Uses {
    pub(crate) data: bool,
    pub(crate) keys: bool,
}

impl Uses {
    pub(crate) const EVERY: [Self; 3] = [
        Self { data: true, keys: true },
        Self { data: true, keys: false },
        Self { data: false, keys: true },
    ];
    pub(crate) const ALL: Self = Self::EVERY[0];
}

/// A template of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Asked {
    pub(crate) uses: Uses,
    pub(crate) sensitive: bool,
    pub(crate) extractable: bool,
}

impl Asked {
    pub(crate) fn every() -> impl Iterator<Item = Self> {
        Uses::EVERY.into_iter().flat_map(|uses| {
            [(true, true), (true, false), (false, true), (false, false)]
                .map(|(sensitive, extractable)| Self { uses, sensitive, extractable })
        })
    }
}

/// An object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Object {
    pub(crate) value: Value,
    pub(crate) class: Class,
    pub(crate) uses: Uses,
    pub(crate) sensitive: bool,
    pub(crate) extractable: bool,
    /// Generated inside, and sensitive since then. A public half has it from its private half.
    pub(crate) always_sensitive: bool,
    pub(crate) trusted: bool,
    /// Whether this object serves keys, if that is not a matter of its value.
    serves_keys: bool,
}

impl Object {
    pub(crate) fn is_readable(&self) -> bool {
        self.class != Class::Public && !self.sensitive && self.extractable
    }
}

/// A call of the attacker. Objects are given by their position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Generate(Asked),
    GeneratePair(Asked),
    /// Creates a secret key with the attacker's own value.
    Create(Asked),
    /// Creates the attacker's own public key.
    CreatePublic,
    Copy(usize),
    MakeSensitive(usize, bool),
    MakeExtractable(usize, bool),
    Trust(usize),
    Wrap {
        wrapping: usize,
        key: usize,
    },
    Unwrap {
        unwrapping: usize,
        wrapped: (Value, Value),
        asked: Asked,
    },
    /// Somebody else unwraps a key from the partner. The attacker sees the wrapped key.
    Receive(usize),
    /// Wraps a key under a fresh AES key, and that under an RSA key (`CKM_RSA_AES_KEY_WRAP`).
    WrapInside {
        wrapping: usize,
        key: usize,
    },
    /// Unwraps a key under a fresh AES key and an RSA key at once.
    UnwrapInside {
        unwrapping: usize,
        fresh: Value,
        value: Value,
        asked: Asked,
    },
    /// Derives the one key that a secret key has in this model.
    Derive(usize, Asked),
    /// Wraps a key without a login.
    WrapAsNobody {
        wrapping: usize,
        key: usize,
    },
    /// Unwraps a key from the partner without a login.
    ReceiveAsNobody(usize),
}

/// The objects of an HSM, and the attacker's knowledge.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct State {
    pub(crate) objects: Vec<Object>,
    /// The values that serve keys.
    pub(crate) serve_keys: Values,
    /// The values that are RSA pairs.
    pub(crate) rsa: Values,
    /// The attacker knows these values,
    pub(crate) known: Values,
    /// and these wrapped keys.
    pub(crate) wrapped: Wrapped,
    /// The derived values, each after its base's.
    pub(crate) derived: Vec<(Value, Value)>,
    /// Values that nobody may learn.
    pub(crate) protected: Values,
    /// Values that may not leave, even wrapped.
    pub(crate) confined: Values,
    /// Whether somebody without a login has made a value serve keys.
    denied: bool,
    pub(crate) next: Value,
}

/// A refused call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused;

impl State {
    /// The HSM before the attack: somebody's key, and the key that the officer trusts.
    pub(crate) fn new(policy: Policy) -> Self {
        let key = |value, extractable, always_sensitive| Object {
            value,
            class: Class::Secret,
            uses: Uses::ALL,
            sensitive: true,
            extractable,
            always_sensitive,
            trusted: value == TRUSTED,
            serves_keys: false,
        };
        let mut state = Self {
            objects: vec![
                key(VICTIM, true, true),
                key(TRUSTED, false, false),
                key(SHARED, false, false),
            ],
            serve_keys: Values::default(),
            rsa: Values::default(),
            known: Values::default(),
            wrapped: Wrapped::default(),
            derived: Vec::new(),
            protected: Values::default(),
            confined: Values::default(),
            denied: false,
            next: FIRST_FREE,
        };
        state.wrapped.add(TRUSTED, ELSEWHERE);
        state.rsa.add(OWN_RSA);
        state.known.add(OWN_AES);
        state.known.add(OWN_RSA);
        for value in [VICTIM, TRUSTED, ELSEWHERE, SHARED] {
            state.protected.add(value);
        }
        if policy.has(Rule::TrustServesKeys) {
            state.serve(policy, 1);
        }
        state
    }

    /// Returns whether the attacker has won.
    pub(crate) fn is_broken(&self) -> bool {
        self.denied
            || self.known.meets(self.protected)
            || self.confined != Values::default()
                && self.wrapped.iter().any(|(_, value)| self.confined.has(value))
    }

    /// Returns whether the sets have no place for another value.
    pub(crate) const fn is_full(&self) -> bool {
        self.next == VALUES
    }

    fn serve(&mut self, policy: Policy, object: usize) {
        if policy.has(Rule::ByValue) {
            self.serve_keys.add(self.objects[object].value);
        } else {
            self.objects[object].serves_keys = true;
        }
    }

    /// Returns whether an object encrypts and decrypts data.
    pub(crate) fn serves_data(&self, object: usize) -> bool {
        let Object { value, class, uses, serves_keys, .. } = self.objects[object];
        let serves_keys = serves_keys || self.serve_keys.has(value);
        uses.data && (class == Class::Public || !serves_keys)
    }

    fn decrypts(&self, object: usize) -> bool {
        self.objects[object].class != Class::Public && self.serves_data(object)
    }

    /// Returns whether an object computes what decryption does, by whichever name. The officer
    /// allows RSA without padding, and every private key signs.
    fn opens(&self, policy: Policy, object: usize) -> bool {
        let signs = self.objects[object].class == Class::Private;
        self.decrypts(object) || signs && !policy.has(Rule::RawIsDecryption)
    }

    /// Returns whether the attacker has this wrapped key, or can make it.
    pub(crate) fn has_wrapped(&self, by: Value, value: Value) -> bool {
        let encrypts = || {
            let mut all = 0..self.objects.len();
            all.any(|i| self.objects[i].value == by && self.serves_data(i))
        };
        self.wrapped.has(by, value)
            || self.known.has(value) && (self.known.has(by) || self.rsa.has(by) || encrypts())
    }

    /// Returns the state in a form that is the same for states that permit the same.
    pub(crate) fn canonical(&self) -> Self {
        let mut state = self.clone();
        state.objects.sort_unstable();
        // A third object with the same attributes permits nothing more than two.
        let mut i = 2;
        while i < state.objects.len() {
            if state.objects[i] == state.objects[i - 2] {
                state.objects.remove(i);
            } else {
                i += 1;
            }
        }
        state
    }

    /// Learns all that needs no call which changes the HSM.
    pub(crate) fn learn(&mut self, policy: Policy) {
        loop {
            let before = self.known;
            for i in 0..self.objects.len() {
                if self.objects[i].is_readable() {
                    self.known.add(self.objects[i].value);
                }
            }
            for (base, value) in &self.derived {
                if self.known.has(*base) {
                    self.known.add(*value);
                }
            }
            for (by, value) in self.wrapped.iter().filter(|(_, value)| !before.has(*value)) {
                let opens = || {
                    let mut all = 0..self.objects.len();
                    all.any(|i| self.objects[i].value == by && self.opens(policy, i))
                };
                if self.known.has(by) || opens() {
                    self.known.add(value);
                }
            }
            if self.known == before {
                return;
            }
        }
    }

    fn generated(&mut self, asked: Asked) -> Value {
        let value = self.next;
        self.next += 1;
        if asked.sensitive {
            self.protected.add(value);
        }
        if !asked.extractable {
            self.confined.add(value);
        }
        value
    }

    /// Returns the state after a call, with all that the attacker learns from it.
    pub(crate) fn after(&self, policy: Policy, call: Call) -> Result<Self, Refused> {
        let mut next = self.clone();
        next.call(policy, call)?;
        next.learn(policy);
        Ok(next)
    }

    fn call(&mut self, policy: Policy, call: Call) -> Result<(), Refused> {
        let object = |value, class, asked: Asked, generated: bool| Object {
            value,
            class,
            uses: asked.uses,
            sensitive: asked.sensitive,
            extractable: asked.extractable,
            always_sensitive: generated && asked.sensitive,
            trusted: false,
            serves_keys: false,
        };
        match call {
            Call::Generate(asked) => {
                let value = self.generated(asked);
                self.objects.push(object(value, Class::Secret, asked, true));
            }
            Call::GeneratePair(asked) => {
                let value = self.generated(asked);
                self.rsa.add(value);
                self.objects.push(object(value, Class::Public, asked, true));
                self.objects.push(object(value, Class::Private, asked, true));
            }
            Call::Create(asked) => {
                self.objects.push(object(OWN_AES, Class::Secret, asked, false));
            }
            Call::CreatePublic => {
                let asked = Asked { uses: Uses::ALL, sensitive: false, extractable: true };
                self.objects.push(object(OWN_RSA, Class::Public, asked, false));
            }
            Call::Copy(original) => {
                let copy = Object { trusted: false, serves_keys: false, ..self.objects[original] };
                self.objects.push(copy);
            }
            Call::MakeSensitive(i, sensitive) => {
                if !sensitive && policy.has(Rule::StaysSensitive) && self.objects[i].sensitive {
                    return Err(Refused);
                }
                self.objects[i].sensitive = sensitive;
            }
            Call::MakeExtractable(i, extractable) => {
                let stays = policy.has(Rule::StaysUnextractable);
                if extractable && stays && !self.objects[i].extractable {
                    return Err(Refused);
                }
                self.objects[i].extractable = extractable;
            }
            Call::Trust(i) => {
                if policy.has(Rule::OfficersTrust) && !self.objects[i].trusted {
                    return Err(Refused);
                }
                self.objects[i].trusted = true;
            }
            Call::Wrap { wrapping, key } => self.wrap(policy, wrapping, key)?,
            Call::Unwrap { unwrapping, wrapped, asked } => {
                self.unwrap(policy, unwrapping, wrapped, asked)?;
            }
            Call::Receive(i) => {
                if self.objects[i].value != SHARED {
                    return Err(Refused);
                }
                let wrapped = (SHARED, self.next);
                self.next += 1;
                self.wrapped.add(wrapped.0, wrapped.1);
                let asked = Asked { uses: Uses::ALL, sensitive: true, extractable: false };
                self.unwrap(policy, i, wrapped, asked)?;
            }
            Call::WrapInside { wrapping, key } => {
                let (by, value) = (self.objects[wrapping], self.objects[key].value);
                if by.class != Class::Public {
                    return Err(Refused);
                }
                let serves_keys = self.may_wrap(policy, wrapping, key)?;
                let fresh = self.next;
                self.next += 1;
                if serves_keys && policy.has(Rule::FreshServesKeys) {
                    self.serve_keys.add(fresh);
                }
                self.wrapped.add(by.value, fresh);
                self.wrapped.add(fresh, value);
            }
            Call::UnwrapInside { unwrapping, fresh, value, asked } => {
                let by = self.objects[unwrapping];
                let fits = by.class == Class::Private
                    && self.has_wrapped(by.value, fresh)
                    && self.has_wrapped(fresh, value);
                if !fits || !by.uses.keys {
                    return Err(Refused);
                }
                let readable = self.unwraps_readable(policy, unwrapping, asked);
                if !readable && policy.has(Rule::UnwrappingServesKeys) {
                    self.serve_keys.add(fresh);
                }
                self.unwrapped(policy, unwrapping, value, asked);
            }
            Call::Derive(base, asked) => self.derive(policy, base, asked)?,
            Call::WrapAsNobody { wrapping, key } => {
                let serves_keys = !self.objects[key].is_readable();
                self.as_nobody(policy, serves_keys, Call::Wrap { wrapping, key })?;
            }
            Call::ReceiveAsNobody(i) => self.as_nobody(policy, true, Call::Receive(i))?,
        }
        Ok(())
    }

    /// Makes a call without a login. `serves_keys` states whether it makes a value serve keys.
    fn as_nobody(&mut self, policy: Policy, serves_keys: bool, call: Call) -> Result<(), Refused> {
        if serves_keys && policy.has(Rule::LoginServesKeys) {
            return Err(Refused);
        }
        let before = self.serve_keys;
        self.call(policy, call)?;
        self.denied |= self.serve_keys != before;
        Ok(())
    }

    fn derive(&mut self, policy: Policy, base: usize, asked: Asked) -> Result<(), Refused> {
        let key = self.objects[base];
        // With an AES key, derivation is encryption.
        if key.class != Class::Secret || !self.serves_data(base) {
            return Err(Refused);
        }
        let known = self.derived.iter().find(|(base, _)| *base == key.value);
        let value = known.map_or(self.next, |(_, value)| *value);
        if value == self.next {
            self.next += 1;
            self.derived.push((key.value, value));
        }
        // PKCS #11 calls it always sensitive if its base is.
        let keeper = !policy.has(Rule::DerivedIsNoKeeper) && key.always_sensitive;
        self.objects.push(Object {
            value,
            class: Class::Secret,
            uses: asked.uses,
            sensitive: asked.sensitive,
            extractable: asked.extractable,
            always_sensitive: keeper && asked.sensitive,
            trusted: false,
            serves_keys: false,
        });
        Ok(())
    }

    fn wrap(&mut self, policy: Policy, wrapping: usize, key: usize) -> Result<(), Refused> {
        let (by, wrapped) = (self.objects[wrapping], self.objects[key]);
        // RSA wraps secret keys; a private key is too long.
        if by.class == Class::Public && wrapped.class == Class::Private {
            return Err(Refused);
        }
        self.may_wrap(policy, wrapping, key)?;
        self.wrapped.add(by.value, wrapped.value);
        Ok(())
    }

    /// Checks whether a key may wrap another, and marks it if it serves keys thereby, which is
    /// returned.
    fn may_wrap(&mut self, policy: Policy, wrapping: usize, key: usize) -> Result<bool, Refused> {
        let (by, wrapped) = (self.objects[wrapping], self.objects[key]);
        if !by.uses.keys || by.class == Class::Private || wrapped.class == Class::Public {
            return Err(Refused);
        }
        if !wrapped.extractable && policy.has(Rule::Unextractable) {
            return Err(Refused);
        }
        let serves_keys = !wrapped.is_readable();
        if serves_keys {
            let generated = by.value >= FIRST_FREE || by.value == VICTIM;
            let keeper = match policy.without {
                Some(Rule::Keepers) => true,
                Some(Rule::AlwaysSensitive) => generated || by.trusted,
                _ => by.always_sensitive || by.trusted,
            };
            if !keeper {
                return Err(Refused);
            }
            if policy.has(Rule::WrappingServesKeys) {
                self.serve(policy, wrapping);
            }
        }
        Ok(serves_keys)
    }

    fn unwrap(
        &mut self,
        policy: Policy,
        unwrapping: usize,
        (by, value): (Value, Value),
        asked: Asked,
    ) -> Result<(), Refused> {
        let key = self.objects[unwrapping];
        let fits = key.value == by && self.has_wrapped(by, value);
        if !fits || !key.uses.keys || key.class == Class::Public {
            return Err(Refused);
        }
        self.unwrapped(policy, unwrapping, value, asked);
        Ok(())
    }

    /// Returns whether an unwrapped key is as readable as its template asks.
    fn unwraps_readable(&self, policy: Policy, unwrapping: usize, asked: Asked) -> bool {
        !asked.sensitive && (self.decrypts(unwrapping) || !policy.has(Rule::UnwrappedIsSensitive))
    }

    /// Makes the object of an unwrapped key.
    fn unwrapped(&mut self, policy: Policy, unwrapping: usize, value: Value, asked: Asked) {
        let key = self.objects[unwrapping];
        let readable = self.unwraps_readable(policy, unwrapping, asked);
        if !readable && key.class == Class::Secret {
            if policy.has(Rule::UnwrappingServesKeys) {
                self.serve(policy, unwrapping);
            }
            // From here on it is a sensitive key of this HSM, unless it can be derived again.
            let derived = self.derived.iter().any(|(_, derived)| *derived == value);
            if !derived && !self.known.has(value) {
                self.protected.add(value);
            }
        }
        self.objects.push(Object {
            value,
            class: if self.rsa.has(value) { Class::Private } else { Class::Secret },
            uses: asked.uses,
            sensitive: !readable,
            extractable: asked.extractable,
            always_sensitive: false,
            trusted: false,
            serves_keys: false,
        });
    }
}
