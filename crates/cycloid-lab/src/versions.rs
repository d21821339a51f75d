//! The versions of the crates that tables name, as locked for this build.

macro_rules! versions {
    ($($name:ident = $variable:literal, $crate_name:literal;)*) => {$(
        #[doc = concat!("The version of ", $crate_name, ".")]
        pub const $name: &str = env!($variable);
    )*};
}

versions! {
    ARK_BLS12_381 = "CYCLOID_VERSION_ARK_BLS12_381", "ark-bls12-381";
    ARK_FF = "CYCLOID_VERSION_ARK_FF", "ark-ff";
    AWS_LC_SYS = "CYCLOID_VERSION_AWS_LC_SYS", "aws-lc-sys";
    BLST = "CYCLOID_VERSION_BLST", "blst";
    BLS12_381 = "CYCLOID_VERSION_BLS12_381", "bls12_381";
    C_KZG = "CYCLOID_VERSION_C_KZG", "c-kzg";
    CRYPTO_BIGINT = "CYCLOID_VERSION_CRYPTO_BIGINT", "crypto-bigint";
    CURVE25519_DALEK = "CYCLOID_VERSION_CURVE25519_DALEK", "curve25519-dalek";
    ED25519_DALEK = "CYCLOID_VERSION_ED25519_DALEK", "ed25519-dalek";
    GRAVIOLA = "CYCLOID_VERSION_GRAVIOLA", "graviola";
    P224 = "CYCLOID_VERSION_P224", "p224";
    P256 = "CYCLOID_VERSION_P256", "p256";
    P384 = "CYCLOID_VERSION_P384", "p384";
    P521 = "CYCLOID_VERSION_P521", "p521";
    RING = "CYCLOID_VERSION_RING", "ring";
    RSA = "CYCLOID_VERSION_RSA", "rsa";
    RUSTLS = "CYCLOID_VERSION_RUSTLS", "rustls";
    X25519_DALEK = "CYCLOID_VERSION_X25519_DALEK", "x25519-dalek";
}
