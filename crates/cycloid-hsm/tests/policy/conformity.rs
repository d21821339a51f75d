//! The daemon beside the specification: the same random calls, the same decisions.

use std::collections::HashMap;

use aes_kw::KwpAes256;
use aes_kw::cipher::KeyInit;
use cycloid_hsm::Code;
use cycloid_hsm::attribute::{Template, cka, ckk, cko};
use cycloid_hsm::legacy::Legacy;
use cycloid_hsm::mechanism::{Parameter, ckg, ckm};
use cycloid_hsm::rpc::{Bytes, Client, Mechanism, Request, Response, Role, Secret, Usage};

use crate::rules::Policy;
use crate::specification::{Asked, Call, Class, Refused, State, Uses};
use crate::support::{self, Daemon, OFFICER_PIN, bytes, mechanism, object, pair, truths};
use crate::values::{ELSEWHERE, OWN_AES, SHARED, TRUSTED, VICTIM, Value};

/// A daemon with the objects of a state, in its order.
pub(crate) struct Beside<'a> {
    client: &'a Client,
    /// A client without a login.
    nobody: &'a Client,
    state: State,
    handles: Vec<u64>,
    wrapped: HashMap<(Value, Value), Vec<u8>>,
    shared: [u8; 32],
    own: [u8; 32],
}

/// Returns the attributes that a template requests.
fn template(class: Class, asked: Asked) -> Template {
    let Asked { uses, sensitive, extractable } = asked;
    let mut all = vec![];
    if class != Class::Public {
        all.extend([
            (cka::SENSITIVE, sensitive),
            (cka::EXTRACTABLE, extractable),
            (cka::DECRYPT, uses.data),
            (cka::UNWRAP, uses.keys),
        ]);
    }
    if class != Class::Private {
        all.extend([(cka::ENCRYPT, uses.data), (cka::WRAP, uses.keys)]);
    }
    if class == Class::Secret {
        all.push((cka::DERIVE, uses.data));
    }
    truths(&all)
}

fn secret_template(asked: Asked) -> Template {
    let mut template = template(Class::Secret, asked);
    template.set_number(cka::CLASS, cko::SECRET_KEY.into());
    template.set_number(cka::KEY_TYPE, ckk::AES.into());
    template
}

/// Returns the mechanism that wraps under a fresh AES key, and that under an RSA key.
fn inside() -> Mechanism {
    let (hash, mask) = (ckm::SHA256, ckg::MGF1_SHA256);
    let parameter = Parameter::OaepAes { bits: 256, hash, mask, label: Bytes::default() };
    Mechanism { number: ckm::RSA_AES_KEY_WRAP, parameter }
}

fn wrapping_mechanism(is_rsa: bool) -> Mechanism {
    if !is_rsa {
        return mechanism(ckm::AES_KEY_WRAP_KWP);
    }
    let (hash, mask) = (ckm::SHA256, ckg::MGF1_SHA256);
    let parameter = Parameter::Oaep { hash, mask, label: Bytes::default() };
    Mechanism { number: ckm::RSA_PKCS_OAEP, parameter }
}

/// Wraps a value outside the HSM.
fn wrapped_outside(by: &[u8; 32], value: &[u8; 32]) -> Vec<u8> {
    let mut wrapped = [0; 40];
    KwpAes256::new(by.into()).wrap_key(value, &mut wrapped).unwrap().to_vec()
}

impl<'a> Beside<'a> {
    /// Makes the objects of the first state. `seed` makes other values, so that sequences on one
    /// daemon do not meet.
    fn new(daemon: &Daemon, client: &'a Client, nobody: &'a Client, seed: u64) -> Self {
        let value = |number: u8| {
            let mut value = [number; 32];
            value[..8].copy_from_slice(&seed.to_le_bytes());
            value
        };
        let victim = Asked { uses: Uses::ALL, sensitive: true, extractable: true };
        let imported = Asked { extractable: false, ..victim };
        let mut template = secret_template(victim);
        template.set_number(cka::VALUE_LEN, 32);
        let mechanism = mechanism(ckm::AES_KEY_GEN);
        let victim = object(client.call(&Request::Generate { mechanism, template })).unwrap();
        let import = |number| {
            let mut template = secret_template(imported);
            template.set(cka::VALUE, value(number));
            template.set_bool(cka::TOKEN, true);
            template.set_bool(cka::PRIVATE, false);
            object(client.call(&Request::Create { template })).unwrap()
        };
        let (trusted, shared) = (import(TRUSTED), import(SHARED));
        let officer = daemon.client();
        let pin = Secret::new(OFFICER_PIN);
        officer.call(&Request::Login { role: Role::SecurityOfficer, pin }).unwrap();
        let template = truths(&[(cka::TRUSTED, true)]);
        officer.call(&Request::SetAttributes { object: trusted, template }).unwrap();
        let elsewhere = wrapped_outside(&value(TRUSTED), &value(ELSEWHERE));
        let mut state = State::new(Policy::WHOLE);
        state.learn(Policy::WHOLE);
        assert_eq!(
            state.objects.iter().map(|object| object.value).collect::<Vec<_>>(),
            [VICTIM, TRUSTED, SHARED]
        );
        let mut wrapped = HashMap::from([((TRUSTED, ELSEWHERE), elsewhere)]);
        let own = value(OWN_AES);
        wrapped.insert((OWN_AES, OWN_AES), wrapped_outside(&own, &own));
        let handles = vec![victim, trusted, shared];
        Self { client, nobody, state, handles, wrapped, shared: value(SHARED), own }
    }

    fn set(&self, i: usize, number: u32, value: bool) -> cycloid_hsm::Result<()> {
        let (object, template) = (self.handles[i], truths(&[(number, value)]));
        self.client.call(&Request::SetAttributes { object, template }).map(drop)
    }

    fn unwrap(
        &mut self,
        i: usize,
        mechanism: Mechanism,
        wrapped: Vec<u8>,
        value: Value,
        asked: Asked,
    ) -> cycloid_hsm::Result<()> {
        let template = match self.state.rsa.has(value) {
            false => secret_template(asked),
            true => {
                let mut template = template(Class::Private, asked);
                template.set_number(cka::CLASS, cko::PRIVATE_KEY.into());
                template.set_number(cka::KEY_TYPE, ckk::RSA.into());
                template
            }
        };
        let request = Request::Unwrap {
            unwrapping: self.handles[i],
            mechanism,
            wrapped: Bytes(wrapped),
            template,
        };
        self.handles.push(object(self.client.call(&request))?);
        Ok(())
    }

    /// Makes a call at the daemon.
    fn call(&mut self, call: Call) -> cycloid_hsm::Result<()> {
        match call {
            Call::Generate(asked) => {
                let mut template = secret_template(asked);
                template.set_number(cka::VALUE_LEN, 32);
                let mechanism = mechanism(ckm::AES_KEY_GEN);
                let request = Request::Generate { mechanism, template };
                self.handles.push(object(self.client.call(&request))?);
            }
            Call::GeneratePair(asked) => {
                let mut public = template(Class::Public, asked);
                public.set_number(cka::MODULUS_BITS, 2048);
                let private = template(Class::Private, asked);
                let mechanism = mechanism(ckm::RSA_PKCS_KEY_PAIR_GEN);
                let request = Request::GeneratePair { mechanism, public, private };
                let (public, private) = pair(self.client.call(&request))?;
                self.handles.extend([public, private]);
            }
            Call::Create(asked) => {
                let mut template = secret_template(asked);
                template.set(cka::VALUE, self.own);
                self.handles.push(object(self.client.call(&Request::Create { template }))?);
            }
            Call::CreatePublic => {
                let asked = Asked { uses: Uses::ALL, sensitive: false, extractable: true };
                let mut template = template(Class::Public, asked);
                template.set_number(cka::CLASS, cko::PUBLIC_KEY.into());
                template.set_number(cka::KEY_TYPE, ckk::RSA.into());
                let mut modulus = [0xa5; 256];
                modulus[..32].copy_from_slice(&self.own);
                modulus[0] = 0xa5;
                modulus[255] = 0xa7;
                template.set(cka::MODULUS, modulus);
                template.set(cka::PUBLIC_EXPONENT, [1, 0, 1]);
                self.handles.push(object(self.client.call(&Request::Create { template }))?);
            }
            Call::Copy(i) => {
                let request = Request::Copy { object: self.handles[i], template: Template::new() };
                self.handles.push(object(self.client.call(&request))?);
            }
            Call::MakeSensitive(i, value) => self.set(i, cka::SENSITIVE, value)?,
            Call::MakeExtractable(i, value) => self.set(i, cka::EXTRACTABLE, value)?,
            Call::Trust(i) => self.set(i, cka::TRUSTED, true)?,
            Call::Wrap { wrapping, key } => {
                let (by, of) = (self.state.objects[wrapping].value, self.state.objects[key].value);
                let (wrapping, key) = (self.handles[wrapping], self.handles[key]);
                let mechanism = wrapping_mechanism(self.state.rsa.has(by));
                let request = Request::Wrap { wrapping, mechanism, key, room: None };
                let wrapped = bytes(self.client.call(&request))?;
                self.wrapped.insert((by, of), wrapped);
            }
            Call::Unwrap { unwrapping, wrapped, asked } => {
                let mechanism = wrapping_mechanism(self.state.rsa.has(wrapped.0));
                let bytes = self.wrapped[&wrapped].clone();
                self.unwrap(unwrapping, mechanism, bytes, wrapped.1, asked)?;
            }
            Call::WrapInside { wrapping, key } => {
                let (by, of) = (self.state.objects[wrapping].value, self.state.objects[key].value);
                let (wrapping, key) = (self.handles[wrapping], self.handles[key]);
                let request = Request::Wrap { wrapping, mechanism: inside(), key, room: None };
                let mut wrapped = bytes(self.client.call(&request))?;
                let rest = wrapped.split_off(2048 / 8);
                self.wrapped.insert((by, self.state.next), wrapped);
                self.wrapped.insert((self.state.next, of), rest);
            }
            Call::UnwrapInside { unwrapping, fresh, value, asked } => {
                let by = self.state.objects[unwrapping].value;
                let parts = [&*self.wrapped[&(by, fresh)], &*self.wrapped[&(fresh, value)]];
                self.unwrap(unwrapping, inside(), parts.concat(), value, asked)?;
            }
            Call::Derive(i, asked) => {
                let template = secret_template(asked);
                let parameter = Parameter::Data(Bytes(vec![9; 32]));
                let mechanism = Mechanism { number: ckm::AES_ECB_ENCRYPT_DATA, parameter };
                let request = Request::Derive { base: self.handles[i], mechanism, template };
                self.handles.push(object(self.client.call(&request))?);
            }
            Call::Receive(i) => {
                let received = (SHARED, self.state.next);
                let mut value = self.shared;
                value[31] = received.1;
                let wrapped = wrapped_outside(&self.shared, &value);
                self.wrapped.insert(received, wrapped.clone());
                let asked = Asked { uses: Uses::ALL, sensitive: true, extractable: false };
                self.unwrap(i, wrapping_mechanism(false), wrapped, received.1, asked)?;
            }
            Call::WrapAsNobody { .. } => unreachable!("nobody else sees the keys"),
            Call::ReceiveAsNobody(i) => {
                let asked = Asked { uses: Uses::ALL, sensitive: true, extractable: false };
                let mut template = secret_template(asked);
                template.set_bool(cka::PRIVATE, false);
                self.nobody.call(&Request::Unwrap {
                    unwrapping: self.handles[i],
                    mechanism: wrapping_mechanism(false),
                    wrapped: Bytes(wrapped_outside(&self.shared, &self.own)),
                    template,
                })?;
            }
        }
        Ok(())
    }

    /// Chooses a call that both can make.
    fn choose(&self, random: &mut Random) -> Call {
        let any = |random: &mut Random| random.below(self.handles.len());
        let asked = |random: &mut Random| Asked {
            uses: Uses::EVERY[random.below(3)],
            sensitive: random.below(2) == 0,
            extractable: random.below(3) != 0,
        };
        loop {
            let call = match random.below(30) {
                0 | 1 => Call::Generate(asked(random)),
                2 if self.state.rsa == State::new(Policy::WHOLE).rsa => {
                    Call::GeneratePair(asked(random))
                }
                3 => Call::Create(asked(random)),
                4 => Call::CreatePublic,
                5 | 6 => Call::Copy(any(random)),
                7 => Call::MakeSensitive(any(random), random.below(2) == 0),
                8 => Call::MakeExtractable(any(random), random.below(2) == 0),
                9 => Call::Trust(any(random)),
                10..=16 => Call::Wrap { wrapping: any(random), key: any(random) },
                17..=22 => {
                    let unwrapping = any(random);
                    let by = self.state.objects[unwrapping].value;
                    let mut all: Vec<_> =
                        self.wrapped.keys().filter(|wrapped| wrapped.0 == by).collect();
                    all.sort_unstable();
                    match all.len() {
                        0 => continue,
                        count => {
                            let wrapped = *all[random.below(count)];
                            Call::Unwrap { unwrapping, wrapped, asked: asked(random) }
                        }
                    }
                }
                23 => Call::Receive(any(random)),
                24 | 25 => Call::WrapInside { wrapping: any(random), key: any(random) },
                26 | 27 => {
                    let unwrapping = any(random);
                    let by = self.state.objects[unwrapping].value;
                    let mut all = Vec::new();
                    for (_, fresh) in self.wrapped.keys().filter(|(other, _)| *other == by) {
                        let inside = self.wrapped.keys().filter(|(other, _)| other == fresh);
                        all.extend(inside.copied());
                    }
                    all.sort_unstable();
                    match all.len() {
                        0 => continue,
                        count => {
                            let (fresh, value) = all[random.below(count)];
                            Call::UnwrapInside { unwrapping, fresh, value, asked: asked(random) }
                        }
                    }
                }
                28 => Call::ReceiveAsNobody(any(random)),
                _ => Call::Derive(any(random), asked(random)),
            };
            let fits = match call {
                Call::MakeSensitive(i, _) | Call::MakeExtractable(i, _) => {
                    self.state.objects[i].class != Class::Public
                }
                Call::Receive(i) | Call::ReceiveAsNobody(i) => {
                    self.state.objects[i].value == SHARED
                }
                // Private keys have no such attribute.
                Call::Trust(i) => self.state.objects[i].class != Class::Private,
                // The model's keys are AES keys.
                Call::Derive(i, _) => self.state.objects[i].class == Class::Secret,
                // The attacker's own pair is not one that a message can be made for here.
                Call::WrapInside { wrapping, .. } => {
                    self.state.objects[wrapping].class == Class::Public
                        && !self.state.known.has(self.state.objects[wrapping].value)
                }
                Call::UnwrapInside { unwrapping, .. } => {
                    self.state.objects[unwrapping].class == Class::Private
                }
                _ => true,
            };
            if fits {
                return call;
            }
        }
    }

    /// Makes a call at both, and compares the decisions, then what each object permits.
    fn step(&mut self, call: Call) -> bool {
        let expected = self.state.after(Policy::WHOLE, call);
        let done = self.call(call);
        match (&expected, &done) {
            (Ok(next), Ok(())) => self.state = next.clone(),
            (Err(Refused), Err(error)) => {
                let decisions = [
                    Code::KEY_FUNCTION_NOT_PERMITTED,
                    Code::KEY_NOT_WRAPPABLE,
                    Code::KEY_UNEXTRACTABLE,
                    Code::ATTRIBUTE_READ_ONLY,
                    Code::USER_NOT_LOGGED_IN,
                ];
                assert!(decisions.contains(&error.code), "{call:?}: {error:?}");
            }
            _ => panic!("{call:?}: {done:?} at {:#?}", self.state),
        }
        assert!(!self.state.is_broken());
        for (i, object) in self.state.objects.iter().enumerate() {
            let key = self.handles[i];
            if object.class != Class::Public {
                let numbers = match object.class {
                    Class::Private => vec![cka::PRIVATE_EXPONENT],
                    _ => vec![cka::VALUE],
                };
                let answer = self.client.call(&Request::Attributes { object: key, numbers });
                let Ok(Response::Attributes { values }) = answer else { panic!("{answer:?}") };
                assert_eq!(values[0].code == 0, object.is_readable(), "{call:?}, {object:?}");
            }
            let is_rsa = self.state.rsa.has(object.value);
            let mechanism = match is_rsa {
                true => wrapping_mechanism(true),
                false => {
                    Mechanism { number: ckm::AES_CBC, parameter: Parameter::Iv(Bytes(vec![0; 16])) }
                }
            };
            let raw = || support::mechanism(ckm::RSA_X_509);
            let asked = match object.class {
                Class::Public => vec![(mechanism, Usage::Encrypt)],
                Class::Private => {
                    vec![(mechanism, Usage::Decrypt), (raw(), Usage::Decrypt), (raw(), Usage::Sign)]
                }
                Class::Secret => vec![(mechanism, Usage::Decrypt)],
            };
            for (mechanism, usage) in asked {
                let asked = self.client.call(&Request::Check { key, mechanism, usage });
                let expected = self.state.serves_data(i);
                assert_eq!(asked.is_ok(), expected, "{usage:?}, {call:?}, {object:?}");
            }
            if object.class == Class::Private {
                // With hardly any padding, a signature is raw.
                let mechanism = support::mechanism(ckm::RSA_PKCS);
                let signed = support::sign(self.client, key, &mechanism, &[7; 200]);
                assert_eq!(signed.is_ok(), self.state.serves_data(i), "{call:?}, {object:?}");
            }
        }
        done.is_ok()
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % bound as u64) as usize
    }
}

#[test]
fn the_daemon_decides_as_the_specification() {
    const SEQUENCES: u64 = 120;
    const CALLS: usize = 14;
    let daemon = Daemon::start();
    daemon.allow(Legacy::RawRsa, true);
    let (client, nobody) = (daemon.user(), daemon.client());
    let mut counts: HashMap<(&str, bool), u32> = HashMap::new();
    for seed in 0..SEQUENCES {
        let mut beside = Beside::new(&daemon, &client, &nobody, seed);
        let mut random = Random(seed);
        for _ in 0..CALLS {
            // The specification's sets are bounded.
            if beside.state.is_full() {
                break;
            }
            let call = beside.choose(&mut random);
            let done = beside.step(call);
            let name = match call {
                Call::WrapInside { .. } => "wrap inside",
                Call::UnwrapInside { .. } => "unwrap inside",
                Call::Derive(..) => "derive",
                Call::Wrap { .. } => "wrap",
                Call::Unwrap { .. } => "unwrap",
                Call::Receive(_) => "receive",
                Call::ReceiveAsNobody(_) => "receive as nobody",
                _ => continue,
            };
            *counts.entry((name, done)).or_default() += 1;
        }
        beside.handles.iter().for_each(|object| {
            client.call(&Request::Destroy { object: *object }).unwrap();
        });
    }
    for kind in [
        ("wrap", true),
        ("wrap", false),
        ("unwrap", true),
        ("receive", true),
        ("receive as nobody", false),
    ] {
        assert!(counts.get(&kind).is_some_and(|count| *count >= 10), "{counts:?}");
    }
}
