//! The groups of RFC 7919 and RFC 3526, computed from their definitions: b bits with 64 ones at
//! each end, and between them the digits of e (RFC 7919, appendix A) or of π (RFC 3526),
//!
//! p = 2^b − 2^(b−64) + (⌊2^(b−130)·e⌋ + X)·2^64 − 1,
//!
//! with the least X for which p and (p − 1)/2 are prime and p ≡ 7 modulo 8. Thus 2 is a square and
//! generates the subgroup of order (p − 1)/2. Every b is a multiple of 64, so the digits of all
//! groups are prefixes of the same limbs.
//!
//! There is no group of 1536 bits: NIST SP 800-56A (appendix D) has none below 2048, RFC 8247
//! advises IKE against it, and neither TLS 1.3 nor SSH has a name for it.

use super::group::{Group, Order};
use super::limbs;
use crate::machine::words::{LIMB_BITS, Limb};
use crate::math::modular::Modulus;

/// Defines the constant of each group from its name, its length, the digits and X.
macro_rules! groups {
    ($($(#[$doc:meta])* $group:ident, $name:literal, $bits:literal, $digits:ident, $x:literal;)*) => {
        impl Group<'static> {
            $($(#[$doc])*
            pub const $group: Self = {
                const PRIME: &[Limb; limbs($bits)] = &prime(&$digits, $x);
                const R_SQUARED: &[Limb; limbs($bits)] = &r_squared(PRIME);
                let modulus = Modulus::from_known(PRIME, $bits, R_SQUARED);
                Self::from_checked(Some($name), modulus, &[2], Order::Half)
            };)*

            /// All known groups.
            pub const KNOWN: [&'static Self; [$($bits),*].len()] = [$(&Self::$group),*];
        }
    };
}

groups! {
    /// ffdhe2048 of RFC 7919, appendix A.1.
    FFDHE2048, "ffdhe2048", 2048, E, 560_316;
    /// ffdhe3072 of RFC 7919, appendix A.2.
    FFDHE3072, "ffdhe3072", 3072, E, 2_625_351;
    /// ffdhe4096 of RFC 7919, appendix A.3.
    FFDHE4096, "ffdhe4096", 4096, E, 5_736_041;
    /// ffdhe6144 of RFC 7919, appendix A.4.
    FFDHE6144, "ffdhe6144", 6144, E, 15_705_020;
    /// ffdhe8192 of RFC 7919, appendix A.5.
    FFDHE8192, "ffdhe8192", 8192, E, 10_965_728;
    /// Group 14 of RFC 3526, section 3.
    MODP2048, "modp2048", 2048, PI, 124_476;
    /// Group 15 of RFC 3526, section 4.
    MODP3072, "modp3072", 3072, PI, 1_690_314;
    /// Group 16 of RFC 3526, section 5.
    MODP4096, "modp4096", 4096, PI, 240_904;
    /// Group 17 of RFC 3526, section 6.
    MODP6144, "modp6144", 6144, PI, 929_484;
    /// Group 18 of RFC 3526, section 7.
    MODP8192, "modp8192", 8192, PI, 4_743_158;
}

impl Group<'static> {
    /// Returns the known group with that name, such as `ffdhe2048` or `modp2048`.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::KNOWN.into_iter().find(|group| group.name() == Some(name))
    }
}

/// Returns the prime of `N` limbs, little-endian, from the digits of e or π.
const fn prime<const N: usize>(digits: &[Limb], x: Limb) -> [Limb; N] {
    let mut prime = [Limb::MAX; N];
    let mut i = 1;
    while i < N - 1 {
        prime[i] = digits[N - 2 - i];
        i += 1;
    }
    // Subtracting 1 from a number that ends in 64 zero bits leaves 64 ones and borrows 1 from X.
    let mut carry = x - 1;
    i = 1;
    while carry != 0 {
        let (sum, overflow) = prime[i].overflowing_add(carry);
        prime[i] = sum;
        carry = overflow as Limb;
        i += 1;
    }
    prime
}

/// Returns R² mod p for R = 2^(64·`N`) and a prime whose first and last limbs are all ones. It is
/// computed at compile time, so that the first use of a group costs no more than any other.
const fn r_squared<const N: usize>(prime: &[Limb; N]) -> [Limb; N] {
    // c = R − p, so c is R mod p.
    let mut c = [0; N];
    let mut i = 0;
    while i < N {
        c[i] = !prime[i];
        i += 1;
    }
    c[0] = 1;
    // Multiplying N times by 2^64 takes R to R².
    let mut r = c;
    let mut step = 0;
    while step < N {
        r = append_zero_limb(&r, &c);
        step += 1;
    }
    // r < R < 2p, and r ≥ p exactly if r + c ≥ R.
    let (sum, carry) = add_product(&r, 1, &c);
    if carry == 0 { r } else { sum }
}

/// Returns a number below R that is congruent to 2^64·`r`.
const fn append_zero_limb<const N: usize>(r: &[Limb; N], c: &[Limb; N]) -> [Limb; N] {
    let mut low = [0; N];
    let mut i = 1;
    while i < N {
        low[i] = r[i - 1];
        i += 1;
    }
    // 2^64·r = top·R + low is congruent to top·c + low, which is less than 2R − R/2^64, since c <
    // R/2^64. Instead of subtracting R, c is added, which carries no further.
    let (sum, carry) = add_product(&low, r[N - 1], c);
    if carry == 0 { sum } else { add_product(&sum, carry, c).0 }
}

/// Returns `a + b·c` modulo R, and the carry.
const fn add_product<const N: usize>(a: &[Limb; N], b: Limb, c: &[Limb; N]) -> ([Limb; N], Limb) {
    let mut sum = [0; N];
    let mut carry = 0;
    let mut i = 0;
    while i < N {
        let wide = a[i] as u128 + b as u128 * c[i] as u128 + carry as u128;
        sum[i] = wide as Limb;
        carry = (wide >> LIMB_BITS) as Limb;
        i += 1;
    }
    (sum, carry)
}

/// ⌊2^(8192−130)·e⌋, most significant limb first.
#[rustfmt::skip]
const E: [Limb; 126] = [
    0xadf85458a2bb4a9a, 0xafdc5620273d3cf1, 0xd8b9c583ce2d3695, 0xa9e13641146433fb,
    0xcc939dce249b3ef9, 0x7d2fe363630c75d8, 0xf681b202aec4617a, 0xd3df1ed5d5fd6561,
    0x2433f51f5f066ed0, 0x856365553ded1af3, 0xb557135e7f57c935, 0x984f0c70e0e68b77,
    0xe2a689daf3efe872, 0x1df158a136ade735, 0x30acca4f483a797a, 0xbc0ab182b324fb61,
    0xd108a94bb2c8e3fb, 0xb96adab760d7f468, 0x1d4f42a3de394df4, 0xae56ede76372bb19,
    0x0b07a7c8ee0a6d70, 0x9e02fce1cdf7e2ec, 0xc03404cd28342f61, 0x9172fe9ce98583ff,
    0x8e4f1232eef28183, 0xc3fe3b1b4c6fad73, 0x3bb5fcbc2ec22005, 0xc58ef1837d1683b2,
    0xc6f34a26c1b2effa, 0x886b4238611fcfdc, 0xde355b3b6519035b, 0xbc34f4def99c0238,
    0x61b46fc9d6e6c907, 0x7ad91d2691f7f7ee, 0x598cb0fac186d91c, 0xaefe130985139270,
    0xb4130c93bc437944, 0xf4fd4452e2d74dd3, 0x64f2e21e71f54bff, 0x5cae82ab9c9df69e,
    0xe86d2bc522363a0d, 0xabc521979b0deada, 0x1dbf9a42d5c4484e, 0x0abcd06bfa53ddef,
    0x3c1b20ee3fd59d7c, 0x25e41d2b669e1ef1, 0x6e6f52c3164df4fb, 0x7930e9e4e58857b6,
    0xac7d5f42d69f6d18, 0x7763cf1d55034004, 0x87f55ba57e31cc7a, 0x7135c886efb4318a,
    0xed6a1e012d9e6832, 0xa907600a918130c4, 0x6dc778f971ad0038, 0x092999a333cb8b7a,
    0x1a1db93d7140003c, 0x2a4ecea9f98d0acc, 0x0a8291cdcec97dcf, 0x8ec9b55a7f88a46b,
    0x4db5a851f44182e1, 0xc68a007e5e0dd902, 0x0bfd64b645036c7a, 0x4e677d2c38532a3a,
    0x23ba4442caf53ea6, 0x3bb454329b7624c8, 0x917bdd64b1c0fd4c, 0xb38e8c334c701c3a,
    0xcdad0657fccfec71, 0x9b1f5c3e4e46041f, 0x388147fb4cfdb477, 0xa52471f7a9a96910,
    0xb855322edb6340d8, 0xa00ef092350511e3, 0x0abec1fff9e3a26e, 0x7fb29f8c183023c3,
    0x587e38da0077d9b4, 0x763e4e4b94b2bbc1, 0x94c6651e77caf992, 0xeeaac0232a281bf6,
    0xb3a739c122611682, 0x0ae8db5847a67cbe, 0xf9c9091b462d538c, 0xd72b03746ae77f5e,
    0x62292c311562a846, 0x505dc82db854338a, 0xe49f5235c95b9117, 0x8ccf2dd5cacef403,
    0xec9d1810c6272b04, 0x5b3b71f9dc6b80d6, 0x3fdd4a8e9adb1e69, 0x62a69526d43161c1,
    0xa41d570d7938dad4, 0xa40e329ccff46aaa, 0x36ad004cf600c838, 0x1e425a31d951ae64,
    0xfdb23fcec9509d43, 0x687feb69edd1cc5e, 0x0b8cc3bdf64b10ef, 0x86b63142a3ab8829,
    0x555b2f747c932665, 0xcb2c0f1cc01bd702, 0x29388839d2af05e4, 0x54504ac78b758282,
    0x2846c0ba35c35f5c, 0x59160cc046fd8251, 0x541fc68c9c86b022, 0xbb7099876a460e74,
    0x51a8a93109703fee, 0x1c217e6c3826e52c, 0x51aa691e0e423cfc, 0x99e9e31650c1217b,
    0x624816cdad9a95f9, 0xd5b8019488d9c0a0, 0xa1fe3075a577e231, 0x83f81d4a3f2fa457,
    0x1efc8ce0ba8a4fe8, 0xb6855dfe72b0a66e, 0xded2fbabfbe58a30, 0xfafabe1c5d71a87e,
    0x2f741ef8c1fe86fe, 0xa6bbfde530677f0d, 0x97d11d49f7a8443d, 0x0822e506a9f4614e,
    0x011e2a94838ff88c, 0xd68c8bb7c51eef6d,
];

/// ⌊2^(8192−130)·π⌋, most significant limb first.
#[rustfmt::skip]
const PI: [Limb; 126] = [
    0xc90fdaa22168c234, 0xc4c6628b80dc1cd1, 0x29024e088a67cc74, 0x020bbea63b139b22,
    0x514a08798e3404dd, 0xef9519b3cd3a431b, 0x302b0a6df25f1437, 0x4fe1356d6d51c245,
    0xe485b576625e7ec6, 0xf44c42e9a637ed6b, 0x0bff5cb6f406b7ed, 0xee386bfb5a899fa5,
    0xae9f24117c4b1fe6, 0x49286651ece45b3d, 0xc2007cb8a163bf05, 0x98da48361c55d39a,
    0x69163fa8fd24cf5f, 0x83655d23dca3ad96, 0x1c62f356208552bb, 0x9ed529077096966d,
    0x670c354e4abc9804, 0xf1746c08ca18217c, 0x32905e462e36ce3b, 0xe39e772c180e8603,
    0x9b2783a2ec07a28f, 0xb5c55df06f4c52c9, 0xde2bcbf695581718, 0x3995497cea956ae5,
    0x15d2261898fa0510, 0x15728e5a8aaac42d, 0xad33170d04507a33, 0xa85521abdf1cba64,
    0xecfb850458dbef0a, 0x8aea71575d060c7d, 0xb3970f85a6e1e4c7, 0xabf5ae8cdb0933d7,
    0x1e8c94e04a25619d, 0xcee3d2261ad2ee6b, 0xf12ffa06d98a0864, 0xd87602733ec86a64,
    0x521f2b18177b200c, 0xbbe117577a615d6c, 0x770988c0bad946e2, 0x08e24fa074e5ab31,
    0x43db5bfce0fd108e, 0x4b82d120a9210801, 0x1a723c12a787e6d7, 0x88719a10bdba5b26,
    0x99c327186af4e23c, 0x1a946834b6150bda, 0x2583e9ca2ad44ce8, 0xdbbbc2db04de8ef9,
    0x2e8efc141fbecaa6, 0x287c59474e6bc05d, 0x99b2964fa090c3a2, 0x233ba186515be7ed,
    0x1f612970cee2d7af, 0xb81bdd762170481c, 0xd0069127d5b05aa9, 0x93b4ea988d8fddc1,
    0x86ffb7dc90a6c08f, 0x4df435c934028492, 0x36c3fab4d27c7026, 0xc1d4dcb2602646de,
    0xc9751e763dba37bd, 0xf8ff9406ad9e530e, 0xe5db382f413001ae, 0xb06a53ed9027d831,
    0x179727b0865a8918, 0xda3edbebcf9b14ed, 0x44ce6cbaced4bb1b, 0xdb7f1447e6cc254b,
    0x332051512bd7af42, 0x6fb8f401378cd2bf, 0x5983ca01c64b92ec, 0xf032ea15d1721d03,
    0xf482d7ce6e74fef6, 0xd55e702f46980c82, 0xb5a84031900b1c9e, 0x59e7c97fbec7e8f3,
    0x23a97a7e36cc88be, 0x0f1d45b7ff585ac5, 0x4bd407b22b4154aa, 0xcc8f6d7ebf48e1d8,
    0x14cc5ed20f8037e0, 0xa79715eef29be328, 0x06a1d58bb7c5da76, 0xf550aa3d8a1fbff0,
    0xeb19ccb1a313d55c, 0xda56c9ec2ef29632, 0x387fe8d76e3c0468, 0x043e8f663f4860ee,
    0x12bf2d5b0b7474d6, 0xe694f91e6dbe1159, 0x74a3926f12fee5e4, 0x38777cb6a932df8c,
    0xd8bec4d073b931ba, 0x3bc832b68d9dd300, 0x741fa7bf8afc47ed, 0x2576f6936ba42466,
    0x3aab639c5ae4f568, 0x3423b4742bf1c978, 0x238f16cbe39d652d, 0xe3fdb8befc848ad9,
    0x22222e04a4037c07, 0x13eb57a81a23f0c7, 0x3473fc646cea306b, 0x4bcbc8862f8385dd,
    0xfa9d4b7fa2c087e8, 0x79683303ed5bdd3a, 0x062b3cf5b3a278a6, 0x6d2a13f83f44f82d,
    0xdf310ee074ab6a36, 0x4597e899a0255dc1, 0x64f31cc50846851d, 0xf9ab48195ded7ea1,
    0xb1d510bd7ee74d73, 0xfaf36bc31ecfa268, 0x359046f4eb879f92, 0x4009438b481c6cd7,
    0x889a002ed5ee382b, 0xc9190da6fc026e47, 0x9558e4475677e9aa, 0x9e3050e2765694df,
    0xc81f56e880b96e71, 0x60c980dd98a573ea,
];
