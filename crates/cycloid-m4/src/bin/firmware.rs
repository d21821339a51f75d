//! An example of a firmware: keys in flash, signatures by P-256 and RSA-2048, deterministic and
//! hedged with the device's random generator, and their verification.
//!
//! `cargo run --release --bin firmware` in this folder starts it in QEMU.

#![no_std]
#![no_main]

use core::convert::Infallible;

use cortex_m_rt::entry;
use cycloid::scheme::ec::{self, P256};
use cycloid::scheme::rsa::{self, Context};
use cycloid::scheme::{Hash, ecdsa};
use cycloid_m4::{keys, semihosting, vectors as v};
use rand_core::{CryptoRng, Rng, TryCryptoRng, TryRng};
use sha2::{Digest, Sha256};

const BITS: usize = 2048;
const MESSAGE: &[u8] = b"firmware 1.0";

/// A source of true random words: the peripheral of a device.
trait TrueRandom {
    /// Returns the next word. A driver waits until the peripheral has one, and resets the device if
    /// the peripheral reports a failure.
    fn word(&mut self) -> u32;
}

/// The peripheral of the emulated device, which has none: a counter, which is not random. Replace
/// it with the driver of yours.
struct Counter(u32);

impl TrueRandom for Counter {
    fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9);
        self.0
    }
}

/// The generator that the library takes, on a source of true random words.
struct Generator<T>(T);

impl<T: TrueRandom> TryRng for Generator<T> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0.word())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from(self.0.word()) << 32 | u64::from(self.0.word()))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for part in bytes.chunks_mut(4) {
            part.copy_from_slice(&self.0.word().to_le_bytes()[..part.len()]);
        }
        Ok(())
    }
}

impl<T: TrueRandom> TryCryptoRng for Generator<T> {}

#[entry]
fn main() -> ! {
    let mut random = Generator(Counter(1));
    report("P-256, deterministic", p256(&[]));
    let mut fresh = [0; 32];
    random.fill_bytes(&mut fresh);
    report("P-256, hedged", p256(&fresh));
    report("RSA-2048, PKCS #1 v1.5 and PSS", rsa_2048(&mut random));
    semihosting::exit(true)
}

/// Writes that a step succeeded, or ends the program.
fn report(step: &str, done: Option<()>) {
    semihosting::write(step);
    semihosting::write(if done.is_some() { ": signed and verified\n" } else { ": failed\n" });
    if done.is_none() {
        semihosting::exit(false);
    }
}

/// Signs with `random` mixed into the nonce, and verifies. Without it, the signature depends on key
/// and message alone.
fn p256(random: &[u8]) -> Option<()> {
    let key = ec::PrivateKey::<P256>::from_bytes(&v::P256_PRIVATE).ok()?;
    let signature = key.sign_hedged(Hash::Sha256, &Sha256::digest(MESSAGE), random);
    let received = ecdsa::Signature::from_fixed(signature.to_fixed().as_ref()).ok()?;
    let public = ec::PublicKey::<P256>::from_sec1(&v::P256_PUBLIC).ok()?;
    public.verify(Hash::Sha256, MESSAGE, &received).ok()
}

/// Signs deterministically (PKCS #1 v1.5) and with a random salt (PSS), and verifies both. The
/// generator also blinds the operations. A context of the least memory serves both.
fn rsa_2048(random: &mut impl CryptoRng) -> Option<()> {
    let key = keys::rsa_key()?;
    let mut memory = [0; rsa::minimum_context_limbs(BITS)];
    let mut context = Context::new(&key, random, &mut memory).ok()?;
    let (mut plain, mut salted) = ([0; BITS / 8], [0; BITS / 8]);
    context.sign_pkcs1v15(Hash::Sha256, MESSAGE, &mut plain).ok()?;
    context.sign_pss(Hash::Sha256, MESSAGE, &mut salted).ok()?;
    let scratch = &mut [0; rsa::verify_scratch_limbs(BITS)];
    let public = key.public();
    public.verify_pkcs1v15(Hash::Sha256, MESSAGE, &plain, scratch).ok()?;
    public.verify_pss(Hash::Sha256, MESSAGE, &salted, scratch).ok()
}
