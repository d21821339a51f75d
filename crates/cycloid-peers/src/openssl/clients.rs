//! Clients of HAProxy: each connects, completes a full handshake, gets a short answer, and connects
//! again.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cycloid_lab::record::{Parameters, Summary, Table};
use cycloid_lab::suite::Effort;
use cycloid_lab::suite::service::{self, Loaded, Samples};
use cycloid_lab::suite::subjects::rounded;
use cycloid_lab::{Failure, interrupt};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use super::programs::Place;
use super::{Compared, Subject};
use crate::tls::Kind;
use crate::tls::handshake;
use crate::tls::kind::Certificate;
use crate::turns::{Turns, take};

const NOTES: [&str; 2] = [
    "HAProxy: each client connects, completes a full handshake of TLS 1.3 with X25519, verifies the \
     certificate, gets an answer of five bytes, and connects again, over a socket of this machine. The \
     clients run rustls on AWS-LC. They and HAProxy share all processors; times are wall-clock times",
    "HAProxy: with the provider, `ssl-mode-async` is set, as docs/openssl.md recommends. HAProxy has a \
     thread for each processor, and no session is resumed",
];

/// How long to wait for HAProxy's start.
const PATIENCE: Duration = Duration::from_secs(30);

/// The time with all clients before the clock starts.
const LEAD: Duration = Duration::from_millis(100);

/// The number of rounds, and the length of a turn's timing window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    rounds: usize,
    window: Duration,
}

impl Pace {
    pub(super) const fn of(effort: Effort) -> Self {
        let (rounds, window) = match effort {
            Effort::Quick => (3, 200),
            Effort::Plain => (5, 300),
            Effort::Full => (15, 1000),
        };
        Self { rounds, window: Duration::from_millis(window) }
    }

    /// Estimates the time of both providers and the control.
    pub(super) fn whole(self) -> Duration {
        3 * self.rounds as u32 * (self.window + LEAD)
    }
}

/// Measures handshakes in interleaved rounds.
pub(super) fn measure(
    certificate: Certificate,
    clients: usize,
    place: &Place,
    compared: &Compared,
    pace: Pace,
    progress: &mut dyn FnMut(f64),
) -> Result<Table, Failure> {
    let begin = Instant::now();
    let kind = Kind::modern(certificate);
    let client = Client::new(kind)?;
    let load = |provider| {
        let socket = place.socket(provider, certificate);
        client.load(&socket, clients, place.process(provider), pace.window)
    };
    for (provider, _) in &compared.providers {
        client.wait_for(&place.socket(*provider, certificate))?;
    }
    let subjects: Vec<usize> = (0..compared.providers.len()).collect();
    let turns = take(&subjects, pace.rounds, progress, |subject| {
        interrupt::check()?;
        load(compared.providers[subject].0).map_err(failed)
    })?;
    let Turns { of, control } = turns;
    let samples = |rounds: Vec<Loaded>| {
        let mut samples = Samples::default();
        rounds.into_iter().for_each(|loaded| samples.add(loaded));
        samples
    };
    let of: Vec<Samples> = of.into_iter().map(samples).collect();
    let services = of.iter().map(|samples| Some(samples.service(clients))).collect();
    let times = Turns {
        of: of.into_iter().map(|samples| samples.times).collect(),
        control: samples(control).times,
    };
    let subject = Subject {
        operation: "handshake",
        group: format!("HAProxy, {}", certificate.name()),
        name: format!("{clients} client{}", if clients == 1 { "" } else { "s" }),
        function: "haproxy".into(),
        parameters: Parameters::from([
            ("certificate".into(), certificate.name().into()),
            ("clients".into(), clients.into()),
            ("group".into(), kind.group_name().into()),
        ]),
        summary: Summary::Service,
        notes: &NOTES,
    };
    Ok(compared.table(subject, &times, services, rounded(begin.elapsed().as_secs_f64(), 2)))
}

fn failed(message: String) -> Failure {
    Failure::new(
        format!("cannot measure handshakes with HAProxy: {message}"),
        "see HAProxy's messages above; without HAProxy, the rest of this suite runs",
    )
}

/// A TLS client, and what it expects.
struct Client {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Client {
    fn new(kind: Kind) -> Result<Self, Failure> {
        let config = handshake::client(kind, kind.certificate, &aws_lc_rs::default_provider())
            .map_err(|error| failed(format!("rustls: {error}")))?;
        let name = ServerName::try_from("localhost").expect("the name is valid");
        Ok(Self { config: Arc::new(config), name })
    }

    /// Waits until HAProxy answers.
    fn wait_for(&self, socket: &Path) -> Result<(), Failure> {
        let start = Instant::now();
        loop {
            match self.fetch(socket) {
                Ok(()) => return Ok(()),
                Err(message) if start.elapsed() > PATIENCE => return Err(failed(message)),
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
            interrupt::check()?;
        }
    }

    /// Connects and gets an answer.
    fn fetch(&self, socket: &Path) -> Result<(), String> {
        let error = |error: std::io::Error| error.to_string();
        let stream = UnixStream::connect(socket).map_err(error)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(error)?;
        let connection = ClientConnection::new(Arc::clone(&self.config), self.name.clone())
            .map_err(|error| error.to_string())?;
        let mut stream = StreamOwned::new(connection, stream);
        stream.write_all(b"GET / HTTP/1.0\r\n\r\n").map_err(error)?;
        let mut answer = Vec::with_capacity(256);
        stream.read_to_end(&mut answer).map_err(error)?;
        match answer.ends_with(b"\r\n\r\nhello") {
            true => Ok(()),
            false => Err("unexpected answer".into()),
        }
    }

    /// Lets clients connect for a while.
    fn load(
        &self,
        socket: &Path,
        clients: usize,
        service: Option<u32>,
        window: Duration,
    ) -> Result<Loaded, String> {
        let loaded = service::load(clients, [LEAD, window], service, |_| {
            Ok(|stop: &AtomicBool| {
                let mut times = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    let asked = Instant::now();
                    self.fetch(socket)?;
                    times.push((asked, Instant::now()));
                }
                Ok(times)
            })
        })?;
        match loaded.latencies.is_empty() {
            true => Err(format!("no handshake in {} ms", window.as_millis())),
            false => Ok(loaded),
        }
    }
}
