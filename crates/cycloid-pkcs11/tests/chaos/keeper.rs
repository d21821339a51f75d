//! Makes and destroys the keys that all clients use.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use cycloid_hsm::attribute::{Template, cka};
use cycloid_hsm::mechanism::{Parameter, ckm};
use cycloid_hsm::rpc::{Client, Mechanism, Request, Response, Role, Secret};
use cycloid_hsm::{Code, Result};

use super::P256;
use super::process::now;
use super::support::USER_PIN;

/// The number of shared keys that exist at a time.
const KEYS: usize = 4;

/// The time between two changes.
const PACE: Duration = Duration::from_millis(250);

/// A client that looks for another daemon after each error.
pub(crate) struct Keeper {
    pub(crate) addresses: PathBuf,
    pub(crate) news: Sender<String>,
    client: Option<Client>,
}

/// Connects and logs in as the user.
pub(crate) fn connect(address: impl Into<PathBuf>) -> Result<Client> {
    let client = Client::connect(address, "keeper")?;
    client.call(&Request::Login { role: Role::User, pin: Secret::new(USER_PIN.as_bytes()) })?;
    Ok(client)
}

impl Keeper {
    pub(crate) const fn new(addresses: PathBuf, news: Sender<String>) -> Self {
        Self { addresses, news, client: None }
    }

    fn tell(&self, what: String) {
        let _ = self.news.send(what);
    }

    fn ask(&mut self, request: &Request) -> Result<Response> {
        let client = match self.client.take() {
            Some(client) => client,
            None => connect(&self.addresses)?,
        };
        let answer = client.call(request);
        if !client.is_lost() {
            self.client = Some(client);
        }
        answer
    }

    /// Works until `done`.
    pub(crate) fn work(mut self, done: &AtomicBool) {
        let (mut made, mut keys) = (0, VecDeque::new());
        while !done.load(Ordering::SeqCst) {
            if keys.len() < KEYS {
                made += 1;
                let label = format!("shared/{made}");
                keys.extend(self.make(&label).map(|pair| (label, pair)));
            } else if let Some((label, (public, private))) = keys.pop_front()
                && self.destroy(private, done)
            {
                self.tell(format!("ended {label} {}", now()));
                self.destroy(public, done);
            }
            // The pace of the changes.
            thread::sleep(PACE);
        }
    }

    /// Makes a pair, and returns the public and the private half.
    fn make(&mut self, label: &str) -> Option<(u64, u64)> {
        self.tell(format!("try pair {label}"));
        let mut private = Template::new();
        private.set_bool(cka::TOKEN, true);
        private.set(cka::LABEL, label);
        let mut public = private.clone();
        public.set(cka::EC_PARAMS, P256);
        let mechanism = Mechanism { number: ckm::EC_KEY_PAIR_GEN, parameter: Parameter::None };
        let made = self.ask(&Request::GeneratePair { mechanism, public, private });
        let Ok(Response::Pair { public, private }) = made else { return None };
        self.tell(format!("did pair {label} {public} {private}"));
        self.tell(format!("shared {label} {}", now()));
        Some((public, private))
    }

    /// Destroys an object, and asks again until it is certainly destroyed. Returns whether it is.
    fn destroy(&mut self, object: u64, done: &AtomicBool) -> bool {
        let mut uncertain = false;
        loop {
            self.tell(format!("try end {object}"));
            match self.ask(&Request::Destroy { object }) {
                Ok(_) => break,
                // It was made long ago, so every daemon that answers has known it.
                Err(error) if uncertain && error.code == Code::OBJECT_HANDLE_INVALID => break,
                Err(_) if done.load(Ordering::SeqCst) => return false,
                Err(_) => uncertain = true,
            }
            thread::sleep(PACE);
        }
        self.tell(format!("did end {object}"));
        true
    }
}
