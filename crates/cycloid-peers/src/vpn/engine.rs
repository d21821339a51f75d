//! Measures rounds of packets in memory, compared with the bare cipher on packets of the same
//! length.

use std::cell::RefCell;
use std::time::Duration;

use aws_lc_rs::aead::{
    AES_128_GCM, AES_192_GCM, AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce,
    UnboundKey,
};
use cycloid_vpn::bench::{Round, Shape};
use cycloid_vpn::proto::data::Cipher;

use cycloid_lab::Failure;
use cycloid_lab::measure::{Operation, heap};
use cycloid_lab::peers::{Found, Peer};
use cycloid_lab::record::{Parameters, Summary};
use cycloid_lab::suite::subjects::{Sampling, Setting, Subject};

const WHAT: &str = "VPN: a round is 64 KiB of packets; sealing creates datagrams with header, packet id and tag, and \
    opening checks them. For super-packets, inner headers and checksums are created and checked, too. \
    The cipher alone seals and opens the same amount in place, without any of that";

const VERIFIED: &str =
    "VPN: before and after the timing, rounds are sealed, opened and compared with the input";

const FUNCTIONS: &str = "Sealer::seal, Opener::open";

/// The measured operation on packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Seal,
    Open,
    Both,
}

impl Work {
    pub(super) const ALL: [Self; 3] = [Self::Seal, Self::Open, Self::Both];

    const fn name(self) -> &'static str {
        match self {
            Self::Seal => "seal",
            Self::Open => "open",
            Self::Both => "seal + open",
        }
    }
}

/// A table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Engine {
    pub(super) cipher: Cipher,
    pub(super) shape: Shape,
    pub(super) work: Work,
}

impl Engine {
    /// Returns its name among those of its cipher.
    pub(super) fn name(&self) -> String {
        format!("{}, {}", self.work.name(), self.shape)
    }

    pub(super) fn prepare(
        self,
        time: Duration,
        peers: &[Found],
        left_out: Option<&Failure>,
    ) -> Result<(Setting, Vec<Subject>), Failure> {
        let packets = self.shape.packets();
        let round = Round::new(self.cipher, self.shape).map_err(|error| {
            Failure::new(format!("the VPN's engine failed: {error}"), "please report it")
        })?;
        let ours = Ours { round: RefCell::new(round), work: self.work };
        let mut subjects = vec![Subject {
            scratch: None,
            ..Subject::ours("engine", FUNCTIONS, "aws-lc-rs".into(), 0, Box::new(ours))
        }];
        let bare = peers.iter().find(|found| found.peer == Peer::AwsLc);
        if let Some((found, algorithm)) = bare.zip(algorithm(self.cipher))
            && let Ok(library) = &found.outcome
        {
            let bare = Bare::new(algorithm, self.shape, self.work)
                .ok_or_else(|| Failure::new("AWS-LC rejects the key", "exclude it with --peers"))?;
            let function = "LessSafeKey::seal_in_place_separate_tag, open_in_place";
            let version = library.version();
            let operation = Box::new(bare);
            subjects.push(Subject::of_peer(
                found.peer,
                version,
                "cipher alone",
                function,
                operation,
            ));
        }
        let mut notes = vec![WHAT.to_owned(), VERIFIED.into()];
        if let Some(failure) = left_out {
            let (message, hint) = (&failure.message, &failure.hint);
            notes.push(format!("VPN: tunnels are not measured: {message}; {hint}"));
        }
        let setting = Setting {
            suite: cycloid_lab::suite::vpn::DESCRIPTOR.name,
            operation: self.work.name(),
            group: self.cipher.name().into(),
            name: self.name(),
            series: None,
            parameters: Parameters::from([
                ("cipher".into(), self.cipher.name().into()),
                ("packet_bytes".into(), self.shape.packet_bytes().into()),
                ("packets".into(), packets.into()),
            ]),
            summary: Summary::Packets,
            reference: 0,
            time,
            sampling: Sampling::Paired,
            missing: Vec::new(),
            notes,
        };
        let subjects =
            subjects.into_iter().map(|subject| subject.of_several(packets as u32)).collect();
        Ok((setting, subjects))
    }
}

const fn algorithm(cipher: Cipher) -> Option<&'static Algorithm> {
    match cipher {
        Cipher::Aes256Gcm => Some(&AES_256_GCM),
        Cipher::Aes192Gcm => Some(&AES_192_GCM),
        Cipher::Aes128Gcm => Some(&AES_128_GCM),
        Cipher::ChaCha20Poly1305 => Some(&CHACHA20_POLY1305),
        Cipher::Cbc { .. } => None,
    }
}

/// A round of the engine.
struct Ours {
    round: RefCell<Round>,
    work: Work,
}

const FAILED: &str = "the engine failed";

impl Operation for Ours {
    fn run(&mut self) -> Result<(), &'static str> {
        let round = self.round.get_mut();
        match self.work {
            Work::Seal => round.seal(),
            Work::Open => round.open(),
            Work::Both => round.seal().and_then(|()| round.open()),
        }
        .map_err(|_| FAILED)
    }

    /// Each packet can be opened only once.
    fn renew(&mut self) -> Result<bool, &'static str> {
        if self.work == Work::Open {
            self.round.get_mut().seal().map_err(|_| FAILED)?;
        }
        Ok(self.work == Work::Open)
    }

    fn output(&self) -> Vec<u64> {
        vec![u64::from(self.round.borrow_mut().check().is_ok())]
    }

    fn heap_held(&self) -> Option<u64> {
        heap::measure(|| ()).1.map(|_| 0)
    }
}

/// The bare cipher.
struct Bare(RefCell<Packets>);

struct Packets {
    key: LessSafeKey,
    work: Work,
    length: usize,
    next: u64,
    /// The first nonce of a round.
    sealed_from: u64,
    /// Each packet, with space for its tag.
    packets: Vec<u8>,
}

const TAG: usize = 16;

/// As long as a packet's header and id, which are authenticated.
const HEADER: [u8; 8] = [0x48, 0, 0, 1, 0, 0, 0, 1];

impl Bare {
    fn new(algorithm: &'static Algorithm, shape: Shape, work: Work) -> Option<Self> {
        let key = UnboundKey::new(algorithm, &[7; 32][..algorithm.key_len()]).ok()?;
        let length = shape.packet_bytes();
        Some(Self(RefCell::new(Packets {
            key: LessSafeKey::new(key),
            work,
            length,
            next: 0,
            sealed_from: 0,
            packets: vec![0x45; shape.packets() * (length + TAG)],
        })))
    }
}

fn nonce(number: u64) -> Nonce {
    let mut nonce = [0; 12];
    nonce[..8].copy_from_slice(&number.to_le_bytes());
    Nonce::assume_unique_for_key(nonce)
}

impl Packets {
    fn seal(&mut self) -> Result<(), &'static str> {
        self.sealed_from = self.next;
        for packet in self.packets.chunks_exact_mut(self.length + TAG) {
            let (inner, tag) = packet.split_at_mut(self.length);
            let nonce = nonce(self.next);
            self.next += 1;
            let made = self.key.seal_in_place_separate_tag(nonce, Aad::from(HEADER), inner);
            tag.copy_from_slice(made.map_err(|_| "sealing a packet failed")?.as_ref());
        }
        Ok(())
    }

    fn open(&mut self) -> Result<(), &'static str> {
        for (i, packet) in self.packets.chunks_exact_mut(self.length + TAG).enumerate() {
            let nonce = nonce(self.sealed_from + i as u64);
            self.key
                .open_in_place(nonce, Aad::from(HEADER), packet)
                .map_err(|_| "opening a packet failed")?;
        }
        Ok(())
    }

    /// Checks that packets are unchanged after sealing and opening.
    fn check(&mut self) -> bool {
        self.packets.fill(0x45);
        let done = self.seal().and_then(|()| self.open());
        let whole = |packet: &[u8]| packet[..self.length].iter().all(|byte| *byte == 0x45);
        done.is_ok() && self.packets.chunks_exact(self.length + TAG).all(whole)
    }
}

impl Operation for Bare {
    fn run(&mut self) -> Result<(), &'static str> {
        let packets = self.0.get_mut();
        match packets.work {
            Work::Seal => packets.seal(),
            Work::Open => packets.open(),
            Work::Both => packets.seal().and_then(|()| packets.open()),
        }
    }

    /// Opening in place leaves no sealed packets.
    fn renew(&mut self) -> Result<bool, &'static str> {
        let packets = self.0.get_mut();
        if packets.work == Work::Open {
            packets.seal()?;
        }
        Ok(packets.work == Work::Open)
    }

    fn output(&self) -> Vec<u64> {
        vec![u64::from(self.0.borrow_mut().check())]
    }

    fn heap_held(&self) -> Option<u64> {
        None
    }
}
