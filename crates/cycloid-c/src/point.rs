//! Points of the NIST curves, for protocols beyond signatures and key agreement. A point other than
//! infinity is a public key; infinity is an error.

use cycloid::scheme::ec::{self, arithmetic::Point, arithmetic::Scalar};

use crate::ec::{CurveNumber, EcPrivateKey, EcPublicKey, on_curve};
use crate::error::{CYCLOID_ERROR_CURVE, ErrorCode, Failure, Outcome, run};
use crate::memory::reference;
use crate::object;

/// Writes the generator of a curve.
///
/// Errors: `CYCLOID_ERROR_CURVE`.
///
/// # Safety
/// `point` is memory for a key, which need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ec_generator(
    point: *mut EcPublicKey,
    curve: CurveNumber,
) -> ErrorCode {
    run(|| {
        on_curve!(curve, C => {
            // SAFETY: the caller promises it.
            unsafe { object::make(point, || Point::<C>::generator().to_public_key()) }
        })
    })
}

/// Computes `*sum = *a + *b`. The three may be the same. Time does not depend on the points.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_CURVE`, `CYCLOID_ERROR_INFINITY`.
///
/// # Safety
/// `a` and `b` are keys, and `sum` is memory for one, which need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ec_add(
    sum: *mut EcPublicKey,
    a: *const EcPublicKey,
    b: *const EcPublicKey,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let curve = unsafe { same(reference(a)?.curve()?, reference(b)?.curve()?) }?;
        on_curve!(curve, C => {
            // SAFETY: the caller promises it; the points are copies before `sum` is written.
            let (a, b) = unsafe {
                let (a, b) = (reference(a)?, reference(b)?);
                (*object::value::<ec::PublicKey<C>>(a)?, *object::value::<ec::PublicKey<C>>(b)?)
            };
            // SAFETY: the caller promises it.
            unsafe { object::make(sum, || (&Point::from(a) + &Point::from(b)).to_public_key()) }
        })
    })
}

/// Computes `*product = scalar · *point`, with a private key as the scalar. `product` and `point`
/// may be the same. Time does not depend on the scalar or the point.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_CURVE`.
///
/// # Safety
/// `scalar` and `point` are keys, and `product` is memory for one, which need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ec_multiply(
    product: *mut EcPublicKey,
    scalar: *const EcPrivateKey,
    point: *const EcPublicKey,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let scalar = unsafe { reference(scalar) }?;
        // SAFETY: the caller promises it.
        let curve = unsafe { same(scalar.curve()?, reference(point)?.curve()?) }?;
        on_curve!(curve, C => {
            // SAFETY: the caller promises it; the point is a copy before `product` is written.
            let point = *object::value::<ec::PublicKey<C>>(unsafe { reference(point) }?)?;
            let scalar = Scalar::from(object::value::<ec::PrivateKey<C>>(scalar)?);
            // SAFETY: the caller promises it.
            unsafe { object::make(product, || (&scalar * &Point::from(point)).to_public_key()) }
        })
    })
}

/// Returns the curve that two keys share.
fn same(a: CurveNumber, b: CurveNumber) -> Outcome<CurveNumber> {
    if a == b { Ok(a) } else { Err(Failure(CYCLOID_ERROR_CURVE)) }
}
