//! RSA signatures on data that leaves little of the padding of PKCS #1 v1.5: two of them compute
//! RSA without padding (de Jonge and Chaum, Attacks on some RSA signatures, 1985).

use num_bigint::{BigInt, Sign};

use super::*;

/// The length of the modulus, and of the longest data that is signed under it, in bytes.
const LENGTH: usize = 256;
const MOST: usize = LENGTH - 11;

fn number(bytes: &[u8]) -> BigInt {
    BigInt::from_bytes_be(Sign::Plus, bytes)
}

fn fixed(number: &BigInt, length: usize) -> Vec<u8> {
    let (_, bytes) = number.to_bytes_be();
    [vec![0; length - bytes.len()], bytes].concat()
}

/// Returns the remainder that is not negative.
fn modulo(number: BigInt, modulus: &BigInt) -> BigInt {
    (number % modulus + modulus) % modulus
}

fn rounded_quotient(number: BigInt, by: &BigInt) -> BigInt {
    (2 * number + by) / (2 * by)
}

/// Returns data x and y of `length` bytes with c · pad(x) = pad(y) modulo `n`.
fn related(n: &BigInt, c: &BigInt, length: usize) -> [Vec<u8>; 2] {
    let mut padded = vec![0xff; LENGTH - length];
    (padded[0], padded[1], padded[LENGTH - length - 1]) = (0, 1, 0);
    padded.resize(LENGTH, 0);
    let padding = number(&padded);
    // The lattice of all (x, y) with y = c · x has short vectors, which Euclid's algorithm finds.
    let half = n.sqrt();
    let (mut one, mut two) = ((BigInt::ZERO, n.clone()), (BigInt::from(1), c.clone()));
    while two.1 > half {
        let quotient = &one.1 / &two.1;
        let next = (&one.0 - &quotient * &two.0, &one.1 - &quotient * &two.1);
        (one, two) = (two, next);
    }
    // Of the points of the lattice moved by (0, offset), this one is next to the middle.
    let offset = modulo(c * &padding - &padding, n);
    let middle = BigInt::from(1) << (8 * length - 1);
    let (x, y) = (middle.clone(), middle - &offset);
    let determinant = &one.0 * &two.1 - &one.1 * &two.0;
    let first = rounded_quotient(&x * &two.1 - &y * &two.0, &determinant);
    let second = rounded_quotient(&one.0 * &y - &one.1 * &x, &determinant);
    let x = &first * &one.0 + &second * &two.0;
    let y = &first * &one.1 + &second * &two.1 + offset;
    assert_eq!(modulo(c * (&padding + &x), n), modulo(&padding + &y, n));
    [fixed(&x, length), fixed(&y, length)]
}

/// Computes RSA without padding by signatures on `length` bytes each.
fn opened(
    client: &Client,
    key: u64,
    n: &BigInt,
    ciphertext: &[u8],
    length: usize,
) -> cycloid_hsm::Result<Vec<u8>> {
    let data = related(n, &number(ciphertext), length);
    let signed = data.map(|data| sign(client, key, &mechanism(ckm::RSA_PKCS), &data));
    let [x, y] = signed;
    let (x, y) = (number(&x?), number(&y?));
    let inverse = x.modinv(n).expect("a factor of the modulus is not found by chance");
    Ok(fixed(&modulo(inverse * y, n), LENGTH))
}

fn rsa(client: &Client, uses: &[(u32, bool)]) -> (u64, u64, BigInt) {
    let mut public = truths(&[(cka::WRAP, true), (cka::ENCRYPT, true)]);
    public.set_number(cka::MODULUS_BITS, 8 * LENGTH as u64);
    let mechanism = mechanism(ckm::RSA_PKCS_KEY_PAIR_GEN);
    let private = truths(uses);
    let made = client.call(&Request::GeneratePair { mechanism, public, private });
    let (public, private) = pair(made).unwrap();
    let (_, modulus) = attribute(client, public, cka::MODULUS);
    (public, private, number(&modulus))
}

/// The information of a digest, which is signed in place of it.
fn digest_info(hash: u8, digest: &[u8]) -> Vec<u8> {
    let length = digest.len() as u8;
    let header = [0x30, 17 + length, 0x30, 13, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2];
    [&header, &[hash, 5, 0, 4, length][..], digest].concat()
}

#[test]
fn a1_two_signatures_on_long_data_do_not_open_a_wrapped_key() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let victim = aes(&client, &[cka::ENCRYPT], &[(cka::EXTRACTABLE, true)]).unwrap();
    let all = [(cka::DECRYPT, true), (cka::UNWRAP, true), (cka::SIGN, true)];
    let (public, private, n) = rsa(&client, &all);
    // Until it serves keys, the key decrypts by either name: the attack is one.
    let encrypted = Request::Encrypt {
        key: public,
        mechanism: mechanism(ckm::RSA_PKCS),
        data: Secret::new(b"data"),
    };
    let encrypted = bytes(client.call(&encrypted)).unwrap();
    for length in [MOST, LENGTH / 2 + 2] {
        let plain = opened(&client, private, &n, &encrypted, length).unwrap();
        assert!(plain.starts_with(&[0, 2]) && plain.ends_with(b"\0data"), "{length}");
    }
    let copied = copy(&client, private, &[]).unwrap();
    let wrapped = Request::Wrap { wrapping: public, mechanism: oaep(), key: victim, room: None };
    let wrapped = bytes(client.call(&wrapped)).unwrap();
    for key in [private, copied] {
        for length in [MOST, LENGTH / 2 + 2] {
            let refused = opened(&client, key, &n, &wrapped, length);
            assert_eq!(code(refused), Code::KEY_FUNCTION_NOT_PERMITTED, "{length}");
        }
        let sign_data = |data: &[u8]| sign(&client, key, &mechanism(ckm::RSA_PKCS), data);
        assert_eq!(code(sign_data(&[7; LENGTH / 4 + 1])), Code::KEY_FUNCTION_NOT_PERMITTED);
        // The data that programs sign is short, so most of the padding remains.
        sign_data(&[7; LENGTH / 4]).unwrap();
        sign_data(&digest_info(2, &[7; 48])).unwrap();
        sign_data(&digest_info(3, &[7; 64])).unwrap();
        let mut broken = digest_info(3, &[7; 64]);
        broken[2] ^= 1;
        assert_eq!(code(sign_data(&broken)), Code::KEY_FUNCTION_NOT_PERMITTED);
        sign(&client, key, &mechanism(ckm::SHA512_RSA_PKCS), b"message").unwrap();
    }
}

/// A key that only signs decrypts nothing by that.
#[test]
fn a3_a_signature_on_long_data_needs_both_uses_that_it_is() {
    let daemon = Daemon::start();
    let client = daemon.user();
    let uses = [(cka::DECRYPT, false), (cka::UNWRAP, true), (cka::SIGN, true)];
    let (public, private, n) = rsa(&client, &uses);
    let data = Secret::new(b"a message from outside");
    let message = Request::Encrypt { key: public, mechanism: oaep(), data };
    let message = bytes(client.call(&message)).unwrap();
    let refused = opened(&client, private, &n, &message, MOST);
    assert_eq!(code(refused), Code::KEY_FUNCTION_NOT_PERMITTED);
    sign(&client, private, &mechanism(ckm::RSA_PKCS), &[7; LENGTH / 4]).unwrap();
}
