//! AWS-LC's functions for curves of prime fields, with OpenSSL's types.

use std::ffi::{c_int, c_uint, c_void};

use aws_lc_sys as aws;

use super::super::bn::{self, Number, Pool};
use super::super::ec::{Candidate, Curve, Task};
use super::super::ec_key::{self, Group, Key, Point};

/// Returns the implementations of a task, with the library's functions for numbers.
pub(super) fn candidates(numbers: bn::Functions, task: Task, curve: Curve) -> Vec<Candidate> {
    ec_key::candidates(functions(numbers), task, curve)
}

const fn functions(numbers: bn::Functions) -> ec_key::Functions {
    ec_key::Functions {
        numbers,
        new_by_nid,
        free,
        group,
        set_private,
        set_public,
        public,
        generate,
        point_new,
        point_free,
        point_read,
        point_write,
        sign,
        verify,
        agree,
    }
}

forward! {
    new_by_nid(nid: c_int) -> *mut Key = aws::EC_KEY_new_by_curve_name(nid).cast();
    free(key: *mut Key) = aws::EC_KEY_free(key.cast());
    group(key: *const Key) -> *const Group = aws::EC_KEY_get0_group(key.cast()).cast();
    set_private(key: *mut Key, number: *const Number) -> c_int =
        aws::EC_KEY_set_private_key(key.cast(), number.cast());
    set_public(key: *mut Key, point: *const Point) -> c_int =
        aws::EC_KEY_set_public_key(key.cast(), point.cast());
    public(key: *const Key) -> *const Point = aws::EC_KEY_get0_public_key(key.cast()).cast();
    generate(key: *mut Key) -> c_int = aws::EC_KEY_generate_key(key.cast());
    point_new(group: *const Group) -> *mut Point = aws::EC_POINT_new(group.cast()).cast();
    point_free(point: *mut Point) = aws::EC_POINT_free(point.cast());
    point_read(
        group: *const Group,
        point: *mut Point,
        bytes: *const u8,
        length: usize,
        pool: *mut Pool
    ) -> c_int =
        aws::EC_POINT_oct2point(group.cast(), point.cast(), bytes, length, pool.cast());
    point_write(
        group: *const Group,
        point: *const Point,
        _form: c_uint,
        bytes: *mut u8,
        length: usize,
        pool: *mut Pool
    ) -> usize = aws::EC_POINT_point2oct(
        group.cast(),
        point.cast(),
        aws::point_conversion_form_t::POINT_CONVERSION_UNCOMPRESSED,
        bytes,
        length,
        pool.cast(),
    );
    sign(
        kind: c_int,
        digest: *const u8,
        digest_length: c_int,
        signature: *mut u8,
        length: *mut c_uint,
        key: *mut Key
    ) -> c_int =
        aws::ECDSA_sign(kind, digest, digest_length as usize, signature, length, key.cast());
    verify(
        kind: c_int,
        digest: *const u8,
        digest_length: c_int,
        signature: *const u8,
        length: c_int,
        key: *mut Key
    ) -> c_int = aws::ECDSA_verify(
        kind,
        digest,
        digest_length as usize,
        signature,
        length as usize,
        key.cast(),
    );
    agree(
        shared: *mut c_void,
        length: usize,
        point: *const Point,
        key: *const Key,
        _derivation: *const c_void
    ) -> c_int = aws::ECDH_compute_key(shared, length, point.cast(), key.cast(), None);
}
