//! A search through all short sequences of calls.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use crate::rules::Policy;
use crate::specification::{Asked, Call, Class, State, Uses};

/// How far a search goes.
#[derive(Clone, Copy)]
pub(crate) struct Bound {
    /// Calls that make keys. They depend on nothing, so they come first.
    pub(crate) made: usize,
    /// Other calls.
    pub(crate) calls: usize,
    /// Whether the other calls also derive keys, wrap and unwrap by a fresh key inside a message,
    /// and include those of somebody without a login.
    pub(crate) composed: bool,
}

/// The calls that make keys.
fn making() -> Vec<Call> {
    let mut calls = vec![Call::CreatePublic];
    calls.extend(Asked::every().map(Call::Generate));
    calls.extend(Asked::every().map(Call::GeneratePair));
    // The attacker's own value is known, so less protection shows nothing new.
    let own = |uses| Asked { uses, sensitive: true, extractable: true };
    calls.extend(Uses::EVERY.map(|uses| Call::Create(own(uses))));
    calls
}

/// The calls that use the keys of a state.
fn using(state: &State, composed: bool) -> Vec<Call> {
    let mut calls = Vec::new();
    for i in 0..state.objects.len() {
        calls.push(Call::Copy(i));
        calls.push(Call::MakeSensitive(i, !state.objects[i].sensitive));
        calls.push(Call::MakeExtractable(i, !state.objects[i].extractable));
        calls.push(Call::Trust(i));
        calls.push(Call::Receive(i));
        if composed {
            calls.push(Call::ReceiveAsNobody(i));
        }
        for key in 0..state.objects.len() {
            calls.push(Call::Wrap { wrapping: i, key });
            if composed {
                calls.push(Call::WrapAsNobody { wrapping: i, key });
            }
            if composed && state.objects[i].class == Class::Public {
                calls.push(Call::WrapInside { wrapping: i, key });
            }
        }
        if composed && state.objects[i].class == Class::Secret {
            for sensitive in [true, false] {
                let asked = Asked { uses: Uses::ALL, sensitive, extractable: true };
                calls.push(Call::Derive(i, asked));
            }
        }
        let by = state.objects[i].value;
        if state.objects[i].class == Class::Public {
            continue;
        }
        for value in (0..state.next).filter(|value| state.has_wrapped(by, *value)) {
            if composed && state.objects[i].class == Class::Private {
                for inside in (0..state.next).filter(|inside| state.has_wrapped(value, *inside)) {
                    for sensitive in [true, false] {
                        let asked = Asked { uses: Uses::ALL, sensitive, extractable: true };
                        calls.push(Call::UnwrapInside {
                            unwrapping: i,
                            fresh: value,
                            value: inside,
                            asked,
                        });
                    }
                }
            }
            for (sensitive, extractable) in [(true, true), (false, true)] {
                // More uses permit more.
                let asked = Asked { uses: Uses::ALL, sensitive, extractable };
                calls.push(Call::Unwrap { unwrapping: i, wrapped: (by, value), asked });
            }
        }
    }
    calls
}

/// The outcome of a search.
pub(crate) struct Found {
    /// The calls of the shortest attack.
    pub(crate) attack: Option<Vec<Call>>,
    /// The number of different states before the last call, and of last calls from them.
    pub(crate) states: usize,
}

/// Searches all sequences within a bound for one that breaks a protected key.
pub(crate) fn search(policy: Policy, bound: Bound) -> Found {
    let mut start = State::new(policy);
    start.learn(policy);
    // 64 bits of a hash stand for a state: of a million states, two have the same by a chance of
    // one in ten millions.
    let hasher = RandomState::new();
    let mut seen = HashSet::new();
    // Sets of keys, each made in one order only.
    let making = making();
    let mut layer: Vec<(State, Vec<Call>, usize)> = vec![(start, Vec::new(), 0)];
    let mut ready = layer.clone();
    for _ in 0..bound.made {
        let mut next = Vec::new();
        for (state, path, from) in &layer {
            for (i, call) in making.iter().enumerate().skip(*from) {
                let state = state.after(policy, *call).expect("nothing refuses a new key");
                next.push((state, [path.as_slice(), &[*call]].concat(), i));
            }
        }
        ready.extend(next.iter().cloned());
        layer = next;
    }
    let mut layer: Vec<(State, Vec<Call>)> =
        ready.into_iter().map(|(state, path, _)| (state, path)).collect();
    if let Some((_, path)) = layer.iter().find(|(state, _)| state.is_broken()) {
        return Found { attack: Some(path.clone()), states: layer.len() };
    }
    let mut states = layer.len();
    for rest in (0..bound.calls).rev() {
        let mut next = Vec::new();
        for (state, path) in &layer {
            for call in using(state, bound.composed) {
                let Ok(after) = state.after(policy, call) else { continue };
                let path = || [path.as_slice(), &[call]].concat();
                if after.is_broken() {
                    return Found { attack: Some(path()), states };
                }
                if rest == 0 {
                    // Nothing follows, so it does not matter which state it is.
                    states += 1;
                } else if seen.insert(hasher.hash_one(after.canonical())) {
                    states += 1;
                    next.push((after, path()));
                }
            }
        }
        layer = next;
    }
    Found { attack: None, states }
}
