//! Runs an operation of a library: `operations LIBRARY OPERATION [TIMES]`, ten times unless stated,
//! each between two marks for the plugin, after two that are not counted. `cycloid bench --target
//! aarch64 --instructions` does so for all operations.
//!
//! The libraries are `portable` and `aarch64`, which are Cycloid's backends, and those with features
//! of their names: `graviola`, `aws-lc`, `blst`. Results are checked once.

#[cfg(feature = "aws-lc")]
mod aws_lc;
#[cfg(feature = "blst")]
mod blst;
#[cfg(feature = "graviola")]
mod graviola;
mod marks;
mod ours;

/// An operation with all that it needs.
pub type Operation = Box<dyn FnMut()>;

/// The private key of the curves that have 32 bytes, and of Ed25519.
pub const PRIVATE: [u8; 32] = [
    0x2a, 0x9f, 0x11, 0x5c, 0x83, 0xe4, 0x07, 0xb6, 0x39, 0xd2, 0x6a, 0xf8, 0x14, 0x70, 0xcb, 0x95,
    0x5d, 0x0e, 0xa7, 0x42, 0xfc, 0x31, 0x88, 0x1b, 0xe9, 0x64, 0x23, 0xbd, 0x50, 0x9a, 0xc6, 0x7f,
];

/// The scalar on BLS12-381, big-endian: less than the order.
pub const SCALAR: [u8; 32] = PRIVATE;

/// The message to sign.
pub const MESSAGE: &[u8] = b"sample";

/// RSA keys in PKCS #1, only for measurements.
pub const RSA: [(&str, &[u8]); 3] = [
    ("rsa2048", include_bytes!("../../../keys/rsa-2048.der")),
    ("rsa3072", include_bytes!("../../../keys/rsa-3072.der")),
    ("rsa4096", include_bytes!("../../../keys/rsa-4096.der")),
];

/// Returns the key for P-384: that of 32 bytes, after sixteen others.
pub fn long_private() -> [u8; 48] {
    let mut key = [0x5a; 48];
    key[16..].copy_from_slice(&PRIVATE);
    key
}

/// Returns the key for P-521: the same after two zeros and sixteen others.
pub fn longest_private() -> [u8; 66] {
    let mut key = [0x5a; 66];
    key[..2].fill(0);
    key[18..].copy_from_slice(&long_private());
    key
}

/// Runs before the counted ones: caches of prepared values are then full.
const WARM_UP: usize = 2;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, library, name, times @ ..] = &arguments[..] else {
        eprintln!("error: operations LIBRARY OPERATION [TIMES]");
        std::process::exit(2);
    };
    let times: usize = times.first().map_or(10, |times| times.parse().expect("TIMES is a number"));
    // The addresses of a thread's memory do not depend on the environment, and so the instructions
    // of copies do not.
    std::thread::scope(|scope| _ = scope.spawn(|| repeat(library, name, times)));
}

fn repeat(library: &str, name: &str, times: usize) {
    let operation = match library {
        #[cfg(feature = "graviola")]
        "graviola" => graviola::operation(name),
        #[cfg(feature = "aws-lc")]
        "aws-lc" => aws_lc::operation(name),
        #[cfg(feature = "blst")]
        "blst" => blst::operation(name),
        level => {
            let level = cycloid::cpu::Level::from_name(level).expect("a library");
            cycloid::cpu::limit(level);
            ours::operation(name)
        }
    };
    let Some(mut operation) = operation else {
        eprintln!("error: {library} has no {name}");
        std::process::exit(3);
    };
    for _ in 0..WARM_UP {
        operation();
    }
    for _ in 0..times {
        marks::begin();
        operation();
        marks::end();
    }
}
