//! Runs an operation of a library a number of times: `operations LIBRARY OPERATION TIMES`. The
//! difference between two numbers of times, counted by the plugin, is the cost of the operation.
//!
//! The libraries are `portable` and `aarch64`, which are Cycloid's backends, `graviola` and, with
//! features of these names, `aws-lc` and `blst`. Results are checked once.

#[cfg(feature = "aws-lc")]
mod aws_lc;
#[cfg(feature = "blst")]
mod blst;
mod graviola;
mod ours;

/// An operation, repeated as often as the number says.
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
pub const RSA: [(&str, &[u8]); 2] = [
    ("rsa2048", include_bytes!("../../../keys/rsa-2048.der")),
    ("rsa4096", include_bytes!("../../../keys/rsa-4096.der")),
];

/// Returns the key for P-384: that of 32 bytes, after sixteen others.
pub fn long_private() -> [u8; 48] {
    let mut key = [0x5a; 48];
    key[16..].copy_from_slice(&PRIVATE);
    key
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, library, name, times] = &arguments[..] else {
        eprintln!("error: operations LIBRARY OPERATION TIMES");
        std::process::exit(2);
    };
    let times: usize = times.parse().expect("TIMES is a number");
    let operation = match library.as_str() {
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
    for _ in 0..times {
        operation();
    }
}
