//! OpenSSL: libcrypto, loaded at run time.

use std::ffi::{CStr, c_char, c_int};

use super::bn::{self, Functions};
use super::modexp::Candidate;
use super::{Library, lacks, load_system_library};
use crate::record::Missing;

const FILES: [&str; 2] = ["libcrypto.so.3", "libcrypto.so.1.1"];
const PACKAGE: &str = "libssl3";

struct OpenSsl {
    version: String,
    functions: Functions,
}

pub(super) fn load() -> Result<Box<dyn Library>, Missing> {
    let library = load_system_library(&FILES, PACKAGE)?;
    macro_rules! function {
        ($symbol:literal) => {
            // SAFETY: the type is that of the manual page of the symbol, but for the names of the
            // opaque types.
            *unsafe { library.get($symbol) }.map_err(|_| lacks($symbol, PACKAGE))?
        };
    }
    let version: unsafe extern "C" fn(c_int) -> *const c_char = function!("OpenSSL_version");
    // SAFETY: gives a text that lives as long as the library.
    let version = unsafe { CStr::from_ptr(version(0)) };
    Ok(Box::new(OpenSsl {
        version: version.to_string_lossy().trim_start_matches("OpenSSL ").into(),
        functions: Functions {
            number_new: function!("BN_new"),
            number_free: function!("BN_free"),
            bin2bn: function!("BN_bin2bn"),
            bn2binpad: function!("BN_bn2binpad"),
            pool_new: function!("BN_CTX_new"),
            pool_free: function!("BN_CTX_free"),
            montgomery_new: function!("BN_MONT_CTX_new"),
            montgomery_set: function!("BN_MONT_CTX_set"),
            montgomery_free: function!("BN_MONT_CTX_free"),
            mod_exp_consttime: function!("BN_mod_exp_mont_consttime"),
            mod_exp: function!("BN_mod_exp_mont"),
        },
    }))
}

impl Library for OpenSsl {
    fn version(&self) -> String {
        self.version.clone()
    }

    fn modexp(&self, _modulus_bits: usize) -> Vec<Candidate> {
        bn::candidates("OpenSSL", self.functions)
    }
}
