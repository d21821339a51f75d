//! GMP, loaded at run time.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;

use super::Library;
use super::modexp::{Candidate, Input, Prepare};
use super::system_library::{lacks, load_system_library};
use crate::measure::{Operation, heap};
use crate::record::Missing;

const FILES: [&str; 1] = ["libgmp.so.10"];
const PACKAGE: &str = "libgmp10";

const NOTE: &str = "GMP takes no prepared modulus: each call recomputes its constants";

/// `__mpz_struct`.
#[repr(C)]
struct Mpz {
    allocated: c_int,
    size: c_int,
    limbs: *mut u64,
}

/// `mpz_powm` and `mpz_powm_sec`: result, base, exponent, modulus.
type PowM = unsafe extern "C" fn(*mut Mpz, *const Mpz, *const Mpz, *const Mpz);

/// The functions used. They remain callable for the life of the process.
#[derive(Clone, Copy)]
struct Functions {
    init: unsafe extern "C" fn(*mut Mpz),
    clear: unsafe extern "C" fn(*mut Mpz),
    /// Destination, count, order, bytes per word, endianness, unused top bits, source.
    import: unsafe extern "C" fn(*mut Mpz, usize, c_int, usize, c_int, usize, *const c_void),
    /// Destination, where to store the count, order, bytes per word, endianness, unused top bits,
    /// source.
    export: unsafe extern "C" fn(
        *mut c_void,
        *mut usize,
        c_int,
        usize,
        c_int,
        usize,
        *const Mpz,
    ) -> *mut c_void,
    powm_sec: PowM,
    powm: PowM,
}

struct Gmp {
    version: String,
    functions: Functions,
}

pub(super) fn load() -> Result<Box<dyn Library>, Missing> {
    let library = load_system_library(&FILES, PACKAGE)?;
    macro_rules! symbol {
        ($symbol:literal) => {
            // SAFETY: the type is that of `gmp.h`, which maps the documented name to this symbol.
            *unsafe { library.get($symbol) }.map_err(|_| lacks($symbol, PACKAGE))?
        };
    }
    let version: *const *const c_char = symbol!("__gmp_version");
    // SAFETY: a constant of the library that points to a string of the library.
    let version = unsafe { CStr::from_ptr(*version) };
    Ok(Box::new(Gmp {
        version: version.to_string_lossy().into(),
        functions: Functions {
            init: symbol!("__gmpz_init"),
            clear: symbol!("__gmpz_clear"),
            import: symbol!("__gmpz_import"),
            export: symbol!("__gmpz_export"),
            powm_sec: symbol!("__gmpz_powm_sec"),
            powm: symbol!("__gmpz_powm"),
        },
    }))
}

impl Library for Gmp {
    fn version(&self) -> String {
        self.version.clone()
    }

    fn modexp(&self, _modulus_bits: usize) -> Vec<Candidate> {
        let functions = self.functions;
        let candidate = |label, function, constant_time, powm| Candidate {
            label,
            function,
            constant_time,
            note: Some(NOTE),
            prepare: Prepare::One(Box::new(move |input| {
                let (mut operation, heap) = heap::measure(|| {
                    let mut operation = ModExp::new(functions, powm, input);
                    // The first call allocates the result.
                    let _ = operation.run();
                    operation
                });
                operation.heap_held = heap.map(|heap| heap.held_bytes.max(0) as u64);
                Ok(Box::new(operation))
            })),
        };
        vec![
            candidate("constant-time", "mpz_powm_sec", true, functions.powm_sec),
            candidate("variable-time", "mpz_powm", false, functions.powm),
        ]
    }
}

/// A number owned by GMP.
struct Integer {
    functions: Functions,
    mpz: Mpz,
}

impl Integer {
    fn new(functions: Functions, limbs: &[u64]) -> Self {
        let mut mpz = MaybeUninit::uninit();
        // SAFETY: `init` fills the structure, and `import` reads exactly the slice's words of eight
        // bytes in native byte order. GMP ends the process when memory runs out.
        let mpz = unsafe {
            (functions.init)(mpz.as_mut_ptr());
            let mut mpz = mpz.assume_init();
            (functions.import)(&raw mut mpz, limbs.len(), -1, 8, 0, 0, limbs.as_ptr().cast());
            mpz
        };
        Self { functions, mpz }
    }
}

impl Drop for Integer {
    fn drop(&mut self) {
        // SAFETY: initialised in `new`, cleared only here.
        unsafe { (self.functions.clear)(&raw mut self.mpz) }
    }
}

struct ModExp {
    functions: Functions,
    powm: PowM,
    result: Integer,
    base: Integer,
    exponent: Integer,
    modulus: Integer,
    limbs: usize,
    heap_held: Option<u64>,
}

impl ModExp {
    fn new(functions: Functions, powm: PowM, input: &Input) -> Self {
        Self {
            functions,
            powm,
            result: Integer::new(functions, &[]),
            base: Integer::new(functions, &input.base),
            exponent: Integer::new(functions, &input.exponent),
            modulus: Integer::new(functions, &input.modulus),
            limbs: input.modulus.len(),
            heap_held: None,
        }
    }
}

impl Operation for ModExp {
    fn run(&mut self) -> Result<(), &'static str> {
        // SAFETY: four different numbers that live as long as `self`; the exponent is not 0 and the
        // modulus is odd, as `mpz_powm_sec` requires.
        unsafe {
            (self.powm)(
                &raw mut self.result.mpz,
                &raw const self.base.mpz,
                &raw const self.exponent.mpz,
                &raw const self.modulus.mpz,
            );
        }
        Ok(())
    }

    fn output(&self) -> Vec<u64> {
        let mut limbs = vec![0u64; self.limbs];
        // SAFETY: a residue has no more limbs than the modulus, and the buffer has that length.
        unsafe {
            (self.functions.export)(
                limbs.as_mut_ptr().cast(),
                ptr::null_mut(),
                -1,
                8,
                0,
                0,
                &raw const self.result.mpz,
            );
        }
        limbs
    }

    fn heap_held(&self) -> Option<u64> {
        self.heap_held
    }
}
