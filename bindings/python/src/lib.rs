//! The native part of the Python package `cycloid`. It translates and checks, and contains no
//! cryptography: `python/cycloid` has the modules that users import, and their types.

#![deny(unsafe_code)]

mod batch;
mod bls;
mod dh;
mod ec;
mod ed25519;
mod error;
mod input;
mod key_file;
mod output;
mod random;
mod rsa;
mod x25519;

use pyo3::prelude::*;

/// The native part of `cycloid`.
#[pymodule]
mod _cycloid {
    use pyo3::prelude::*;

    /// `cycloid.ec`.
    #[pymodule]
    mod ec {
        #[pymodule_export]
        use crate::ec::{PrivateKey, PublicKey, agree_many, sign_many, verify_many};
    }

    /// `cycloid.ed25519`.
    #[pymodule]
    mod ed25519 {
        #[pymodule_export]
        use crate::ed25519::{PrivateKey, PublicKey, sign_many, verify_many};
    }

    /// `cycloid.x25519`.
    #[pymodule]
    mod x25519 {
        #[pymodule_export]
        use crate::x25519::{PrivateKey, PublicKey, agree_many};
    }

    /// `cycloid.dh`.
    #[pymodule]
    mod dh {
        #[pymodule_export]
        use crate::dh::{PrivateKey, PublicKey};
    }

    /// `cycloid.rsa`.
    #[pymodule]
    mod rsa {
        #[pymodule_export]
        use crate::rsa::{PrivateKey, PublicKey, sign_many, verify_many};
    }

    /// `cycloid.bls.min_pk`.
    #[pymodule]
    mod min_pk {
        #[pymodule_export]
        use crate::bls::min_pk::{
            PrivateKey, PublicKey, Signature, aggregate_verify, fast_aggregate_verify,
            recover_private_key, recover_public_key, recover_signature, verify_many,
        };
    }

    /// `cycloid.bls.min_sig`.
    #[pymodule]
    mod min_sig {
        #[pymodule_export]
        use crate::bls::min_sig::{
            PrivateKey, PublicKey, Signature, aggregate_verify, fast_aggregate_verify,
            recover_private_key, recover_public_key, recover_signature, verify_many,
        };
    }

    #[pymodule_export]
    use crate::key_file::{load_private_key, load_public_key};

    /// Returns the level of the processor's features that operations use: "portable", "adx",
    /// "avx512" or "ifma". The last two compute eight operations side by side.
    #[pyfunction]
    fn cpu_level() -> String {
        format!("{:?}", cycloid::cpu::level()).to_lowercase()
    }

    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
