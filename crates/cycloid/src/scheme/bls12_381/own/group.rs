//! Operations in G1 and G2.

use core::marker::PhantomData;
use core::slice;

use super::super::backend::{First, Group, Integer, Scalars, Second, SourceGroup};
use super::super::{Affine, Fr, Projective, hash};
use super::Cycloid;
use super::curve::{
    Curve, Memory2, Memory3, are_equal, export, export_affine, import, import_affine, import_one,
    is_zero, to_memory3,
};
use super::each::{Each, many, single, spread};
use super::msm::{self, Plan};
use super::shared_inversion;
use super::side_by_side::{SpreadMultiply, times_x};
use super::threads;
use crate::machine::ct;
use crate::machine::field::{Bls12Base, Wide};
use crate::machine::lanes::{Backend, LANES};
use crate::math::bls12_381::{self, Endomorphism, Field, Mapped, Point, Words, reveal};
use crate::math::field::MAX_WIDTH;

/// Declares operations that run on each of many inputs.
macro_rules! each {
    ($($(#[$doc:meta])* $name:ident $(<$life:lifetime>)?: $input:ty => $output:ty,
        |$f:ident, $inputs:ident, $outputs:ident| $body:block)+) => {$(
        $(#[$doc])*
        pub(super) struct $name<$($life,)? G>(PhantomData<(G, $(&$life (),)?)>);

        impl<$($life,)? G: Curve> Each for $name<$($life,)? G> {
            type Input = $input;
            type Output = $output;

            fn each<A: Wide<Bls12Base>>($f: A, $inputs: &[$input], $outputs: &mut [$output]) $body
        }
    )+};
}

each! {
    Double: Memory3<G> => Memory3<G>, |f, inputs, outputs| {
        export::<G, A>(&import::<G, A>(f, inputs).double(), outputs);
    }

    Add<'a>: [&'a Memory3<G>; 2] => Memory3<G>, |f, inputs, outputs| {
        let side = |i: usize| import_side::<G, A>(f, inputs, i);
        export::<G, A>(&side(0).add(&side(1)), outputs);
    }

    /// The second point is finite.
    AddAffine<'a>: (&'a Memory3<G>, &'a Memory2<G>) => Memory3<G>, |f, inputs, outputs| {
        if A::WIDTH == 1 {
            let (point, affine) = inputs[0];
            let point = import::<G, A>(f, slice::from_ref(point));
            let sum = point.add_affine(&import_one::<G, A>(f, affine));
            return export::<G, A>(&sum, outputs);
        }
        let mut points = [[G::ZERO; 3]; MAX_WIDTH];
        let mut affine = [[G::ZERO; 2]; MAX_WIDTH];
        for (place, input) in inputs.iter().enumerate() {
            (points[place], affine[place]) = (*input.0, *input.1);
        }
        let affine = import_affine::<G, A>(f, &affine[..A::WIDTH]);
        export::<G, A>(&import::<G, A>(f, &points[..A::WIDTH]).add_affine(&affine), outputs);
    }

    Equal<'a>: [&'a Memory3<G>; 2] => bool, |f, inputs, outputs| {
        let side = |i: usize| import_side::<G, A>(f, inputs, i);
        outputs.copy_from_slice(&reveal::<A>(side(0).equal(&side(1)))[..A::WIDTH]);
    }

    NegateAffine: Memory2<G> => Memory2<G>, |f, inputs, outputs| {
        let mut point = import_affine::<G, A>(f, inputs);
        point.y = point.y.negate();
        export_affine::<G, A>(&point, outputs);
    }

    ToAffine: Memory3<G> => Memory2<G>, |f, inputs, outputs| {
        export_affine::<G, A>(&import::<G, A>(f, inputs).to_affine(), outputs);
    }

    IsInGroup: Memory3<G> => bool, |f, inputs, outputs| {
        let point = import::<G, A>(f, inputs);
        let members = G::Field::<A>::is_in_group(&point, times_x::<G, A>);
        outputs.copy_from_slice(&reveal::<A>(members)[..A::WIDTH]);
    }

    /// Scalars are in parts.
    Multiply: (Memory3<G>, [u128; 4]) => Memory3<G>, |f, inputs, outputs| {
        let (points, mut parts) = points_and_parts::<G, A>(f, inputs);
        export::<G, A>(&bls12_381::multiply(&points, &parts), outputs);
        bls12_381::wipe_parts(parts.as_flattened_mut());
    }

    /// Multiplies the generator by a scalar in parts: on one input, never side by side.
    MultiplyGenerator: [u128; 4] => Memory3<G>, |f, inputs, outputs| {
        let mut parts = [[0; MAX_WIDTH]; 4];
        parts.iter_mut().zip(inputs[0]).for_each(|(part, value)| part[0] = value);
        let multiple = bls12_381::multiply_generator::<G::Field<A>>(f, &parts, G::table());
        export::<G, A>(&multiple, outputs);
        bls12_381::wipe_parts(parts.as_flattened_mut());
    }

    /// Multiplies any points of the curve by integers of 128 bits.
    MultiplyShort: (Memory3<G>, [u128; 4]) => Memory3<G>, |f, inputs, outputs| {
        let (points, parts) = points_and_parts::<G, A>(f, inputs);
        export::<G, A>(&bls12_381::multiply_some(&points, &parts[..1], 128), outputs);
    }

    /// Multiplies any points of the curve by integers, each with an upper bound of its bits.
    #[cfg_attr(not(feature = "internals"), expect(dead_code))]
    MultiplyBits: (Memory2<G>, u128, usize) => Memory3<G>, |f, inputs, outputs| {
        let mut points = [[G::ZERO; 3]; MAX_WIDTH];
        let mut parts = [0; MAX_WIDTH];
        let mut bits = 0;
        for (place, (point, integer, most)) in inputs.iter().enumerate() {
            (points[place], parts[place]) = (to_memory3::<G>(point), *integer);
            bits = bits.max(*most);
        }
        let points = import::<G, A>(f, &points[..A::WIDTH]);
        export::<G, A>(&bls12_381::multiply_some(&points, &[parts], bits), outputs);
    }

    /// Maps points of the curve to the group.
    ClearCofactor: Memory3<G> => Memory3<G>, |f, inputs, outputs| {
        let point = import::<G, A>(f, inputs);
        export::<G, A>(&G::Field::<A>::clear_cofactor(&point, times_x::<G, A>), outputs);
    }

    /// Takes an x coordinate as an integer, and which of the two y coordinates to return.
    Decompress: (G::Memory, bool) => Option<Memory2<G>>, |f, inputs, outputs| {
        let mut x = [G::ZERO; MAX_WIDTH];
        x.iter_mut().zip(inputs).for_each(|(x, input)| *x = input.0);
        let larger = f.mask(|place| ct::Mask::from_bit(inputs[place].1.into()));
        let x = G::Field::<A>::load(f, &x[..A::WIDTH]);
        let (found, point) = bls12_381::decompress(&x, larger);
        let mut points = [[G::ZERO; 2]; MAX_WIDTH];
        export_affine::<G, A>(&point, &mut points[..A::WIDTH]);
        let found = reveal::<A>(found);
        for (place, output) in outputs.iter_mut().enumerate() {
            *output = found[place].then_some(points[place]);
        }
    }

    /// Converts integer coordinates to a point.
    FromCoordinates: [G::Memory; 2] => Option<Memory2<G>>, |f, inputs, outputs| {
        let side = |i: usize| G::Field::<A>::load(f, &sides::<_, 2>(inputs, i)[..A::WIDTH]);
        let point = bls12_381::Affine { x: side(0), y: side(1) };
        let mut points = [[G::ZERO; 2]; MAX_WIDTH];
        export_affine::<G, A>(&point, &mut points[..A::WIDTH]);
        let found = reveal::<A>(bls12_381::is_on_curve(&point));
        for (place, output) in outputs.iter_mut().enumerate() {
            *output = found[place].then_some(points[place]);
        }
    }

    /// Returns coordinates as integers.
    Coordinates: Memory2<G> => [G::Memory; 2], |f, inputs, outputs| {
        let point = import_affine::<G, A>(f, inputs);
        for (i, coordinate) in [point.x, point.y].iter().enumerate() {
            let mut integers = [G::ZERO; MAX_WIDTH];
            coordinate.store(&mut integers[..A::WIDTH]);
            outputs.iter_mut().zip(integers).for_each(|(output, integer)| output[i] = integer);
        }
    }

    /// Maps one field element to the group.
    EncodeToCurve: [[u8; 64]; 4] => Memory3<G>, |f, inputs, outputs| {
        let elements = [element::<G, A>(f, inputs, 0)];
        export::<G, A>(&bls12_381::to_group(&elements, times_x::<G, A>), outputs);
    }

    /// Maps two field elements to the group.
    HashToCurve: [[u8; 64]; 4] => Memory3<G>, |f, inputs, outputs| {
        let elements = [element::<G, A>(f, inputs, 0), element::<G, A>(f, inputs, 1)];
        export::<G, A>(&bls12_381::to_group(&elements, times_x::<G, A>), outputs);
    }
}

/// Loads the `i`-th point of each input.
fn import_side<G: Curve, A: Wide<Bls12Base>>(
    f: A,
    inputs: &[[&Memory3<G>; 2]],
    i: usize,
) -> Point<G::Field<A>> {
    if A::WIDTH == 1 {
        return import::<G, A>(f, slice::from_ref(inputs[0][i]));
    }
    import::<G, A>(f, &sides::<_, 2>(inputs, i).map(|point| *point)[..A::WIDTH])
}

/// Returns the `i`-th component of each input.
fn sides<T: Copy, const N: usize>(inputs: &[[T; N]], i: usize) -> [T; MAX_WIDTH] {
    core::array::from_fn(|place| inputs[place.min(inputs.len() - 1)][i])
}

/// Loads the points, and arranges the parts of their scalars by part.
fn points_and_parts<G: Curve, A: Wide<Bls12Base>>(
    f: A,
    inputs: &[(Memory3<G>, [u128; 4])],
) -> (Point<G::Field<A>>, [[u128; MAX_WIDTH]; 4]) {
    let mut parts = [[0; MAX_WIDTH]; 4];
    if A::WIDTH == 1 {
        let (point, values) = &inputs[0];
        parts.iter_mut().zip(values).for_each(|(part, value)| part[0] = *value);
        return (import::<G, A>(f, slice::from_ref(point)), parts);
    }
    for (place, input) in inputs.iter().enumerate() {
        for (part, value) in parts.iter_mut().zip(input.1) {
            part[place] = value;
        }
    }
    let mut points = [[G::ZERO; 3]; MAX_WIDTH];
    points.iter_mut().zip(inputs).for_each(|(point, input)| *point = input.0);
    (import::<G, A>(f, &points[..A::WIDTH]), parts)
}

/// Returns the `i`-th field element of each input.
fn element<G: Curve, A: Wide<Bls12Base>>(f: A, inputs: &[[[u8; 64]; 4]], i: usize) -> G::Field<A> {
    let mut uniform: [&[[u8; 64]]; MAX_WIDTH] = [&[]; MAX_WIDTH];
    for (uniform, input) in uniform.iter_mut().zip(inputs) {
        *uniform = &input[i * G::DEGREE..(i + 1) * G::DEGREE];
    }
    G::Field::<A>::from_uniform(f, &uniform[..A::WIDTH])
}

/// Number of points processed at a time when copies are made.
const CHUNK: usize = LANES;

/// Computes kᵢ·aᵢ with `E`.
fn multiply_many<E, G>(points: &mut [Memory3<G>], parts: impl Fn(usize) -> [u128; 4])
where
    G: Curve,
    E: Each<Input = (Memory3<G>, [u128; 4]), Output = Memory3<G>>,
{
    for (chunk, points) in points.chunks_mut(CHUNK).enumerate() {
        let mut inputs = [([G::ZERO; 3], [0; 4]); CHUNK];
        for (i, point) in points.iter().enumerate() {
            inputs[i] = (*point, parts(chunk * CHUNK + i));
        }
        many::<E>(&inputs[..points.len()], points);
        inputs.iter_mut().for_each(|(_, parts)| bls12_381::wipe_parts(parts));
    }
}

/// Computes kᵢ·aᵢ for points of the curve and integers of at most as many bits as stand with each.
#[cfg(feature = "internals")]
pub(super) fn multiply_bits_many<G: Curve>(
    inputs: &[(Memory2<G>, u128, usize)],
    products: &mut [Memory3<G>],
) {
    many::<MultiplyBits<G>>(inputs, products);
}

/// Maps the uniform bytes of `elements` field elements each, one or two, to the group.
#[cfg(feature = "internals")]
pub(super) fn map_many<G: Curve>(
    uniform: &[[[u8; 64]; 4]],
    elements: usize,
    points: &mut [Memory3<G>],
) {
    match elements {
        1 => many::<EncodeToCurve<G>>(uniform, points),
        _ => many::<HashToCurve<G>>(uniform, points),
    }
}

/// Implements `Group` for one of the groups.
macro_rules! group {
    ($G:ident $memory:ty) => {
        impl Group<$G> for Cycloid {
            type Projective = [$memory; 3];
            type Affine = [$memory; 2];
            type TableForm = msm::prepared::TableForm;

            fn identity() -> [$memory; 3] {
                [$G::ZERO, $G::ONE, $G::ZERO]
            }

            fn affine_identity() -> [$memory; 2] {
                [$G::ZERO; 2]
            }

            fn generator() -> [$memory; 2] {
                $G::GENERATOR
            }

            fn is_identity(a: &[$memory; 3]) -> bool {
                is_zero::<$G>(&a[2..])
            }

            fn affine_is_identity(a: &[$memory; 2]) -> bool {
                is_zero::<$G>(a)
            }

            fn equal(a: &[$memory; 3], b: &[$memory; 3]) -> bool {
                single::<Equal<'_, $G>>(&[a, b], false)
            }

            fn affine_equal(a: &[$memory; 2], b: &[$memory; 2]) -> bool {
                are_equal::<$G>(a, b)
            }

            fn add(a: &[$memory; 3], b: &[$memory; 3]) -> [$memory; 3] {
                single::<Add<'_, $G>>(&[a, b], [$G::ZERO; 3])
            }

            fn add_affine(a: &[$memory; 3], b: &[$memory; 2]) -> [$memory; 3] {
                if is_zero::<$G>(b) {
                    return *a;
                }
                single::<AddAffine<'_, $G>>(&(a, b), [$G::ZERO; 3])
            }

            fn double(a: &[$memory; 3]) -> [$memory; 3] {
                single::<Double<$G>>(a, [$G::ZERO; 3])
            }

            fn negate(a: &[$memory; 3]) -> [$memory; 3] {
                [a[0], $G::sub(&$G::ZERO, &a[1]), a[2]]
            }

            fn affine_negate(a: &[$memory; 2]) -> [$memory; 2] {
                single::<NegateAffine<$G>>(a, [$G::ZERO; 2])
            }

            fn from_affine(a: &[$memory; 2]) -> [$memory; 3] {
                to_memory3::<$G>(a)
            }

            fn to_affine(a: &[$memory; 3]) -> [$memory; 2] {
                single::<ToAffine<$G>>(a, [$G::ZERO; 2])
            }

            fn to_affine_many(points: &[Projective<Self, $G>], affine: &mut [Affine<Self, $G>]) {
                let n = points.len().min(affine.len());
                let write = |i: usize, point| affine[i] = Affine::from_raw(point);
                shared_inversion::to_affine::<$G>(n, |i| points[i].raw(), write);
            }

            fn sum(points: &[Affine<Self, $G>]) -> [$memory; 3] {
                shared_inversion::sum_vartime::<$G>(points.len(), |i| points[i].raw())
            }

            fn from_coordinates(
                x: &<$G as SourceGroup>::Compressed,
                y: &<$G as SourceGroup>::Compressed,
            ) -> Option<[$memory; 2]> {
                single::<FromCoordinates<$G>>(&[$G::from_bytes(x), $G::from_bytes(y)], None)
            }

            fn coordinates(
                a: &[$memory; 2],
            ) -> (<$G as SourceGroup>::Compressed, <$G as SourceGroup>::Compressed) {
                let [x, y] = single::<Coordinates<$G>>(a, *a);
                ($G::to_bytes(&x), $G::to_bytes(&y))
            }

            fn decompress(
                x: &<$G as SourceGroup>::Compressed,
                larger: bool,
            ) -> Option<[$memory; 2]> {
                single::<Decompress<$G>>(&($G::from_bytes(x), larger), None)
            }

            fn decompress_many(
                x: &[<$G as SourceGroup>::Compressed],
                larger: &[bool],
                points: &mut [Option<Affine<Self, $G>>],
            ) {
                let inputs = x.chunks(CHUNK).zip(larger.chunks(CHUNK));
                for ((x, larger), points) in inputs.zip(points.chunks_mut(CHUNK)) {
                    let (mut inputs, mut outputs) = ([($G::ZERO, false); CHUNK], [None; CHUNK]);
                    for (input, (x, larger)) in inputs.iter_mut().zip(x.iter().zip(larger)) {
                        *input = ($G::from_bytes(x), *larger);
                    }
                    many::<Decompress<$G>>(&inputs[..x.len()], &mut outputs[..x.len()]);
                    for (point, output) in points.iter_mut().zip(outputs) {
                        *point = output.map(Affine::from_raw);
                    }
                }
            }

            fn in_group(a: &[$memory; 2]) -> bool {
                single::<IsInGroup<$G>>(&to_memory3::<$G>(a), false)
            }

            fn in_group_many(points: &[Affine<Self, $G>], members: &mut [bool]) {
                for (points, members) in points.chunks(CHUNK).zip(members.chunks_mut(CHUNK)) {
                    let mut inputs = [[$G::ZERO; 3]; CHUNK];
                    for (input, point) in inputs.iter_mut().zip(points) {
                        *input = to_memory3::<$G>(point.raw());
                    }
                    many::<IsInGroup<$G>>(&inputs[..points.len()], members);
                }
            }

            fn multiply(a: &[$memory; 3], k: &Self::Fr) -> [$memory; 3] {
                let mut integer = Self::fr_to_integer(k);
                let mut parts = $G::split(&integer);
                ct::wipe(&mut integer);
                let multiple = spread(SpreadMultiply::<$G> { point: a, parts: &parts })
                    .unwrap_or_else(|| single::<Multiply<$G>>(&(*a, parts), *a));
                bls12_381::wipe_parts(&mut parts);
                multiple
            }

            fn multiply_generator(k: &Self::Fr) -> [$memory; 3] {
                let mut integer = Self::fr_to_integer(k);
                let mut parts = $G::split(&integer);
                ct::wipe(&mut integer);
                let multiple = single::<MultiplyGenerator<$G>>(&parts, [$G::ZERO; 3]);
                bls12_381::wipe_parts(&mut parts);
                multiple
            }

            fn multiply_many(points: &mut [Projective<Self, $G>], scalars: &[Fr<Self>]) {
                for (points, scalars) in points.chunks_mut(CHUNK).zip(scalars.chunks(CHUNK)) {
                    let mut raw = [[$G::ZERO; 3]; CHUNK];
                    raw.iter_mut().zip(&*points).for_each(|(raw, point)| *raw = *point.raw());
                    multiply_many::<Multiply<$G>, $G>(&mut raw[..points.len()], |i| {
                        $G::split(&Self::fr_to_integer(scalars[i].raw()))
                    });
                    for (point, raw) in points.iter_mut().zip(raw) {
                        *point = Projective::from_raw(raw);
                    }
                }
            }

            fn multiply_many_vartime(points: &mut [Projective<Self, $G>], scalars: &[Fr<Self>]) {
                <Self as Group<$G>>::multiply_many(points, scalars);
            }

            fn multiply_short_many_vartime(points: &mut [Projective<Self, $G>], weights: &[u128]) {
                for (points, weights) in points.chunks_mut(CHUNK).zip(weights.chunks(CHUNK)) {
                    let mut raw = [[$G::ZERO; 3]; CHUNK];
                    raw.iter_mut().zip(&*points).for_each(|(raw, point)| *raw = *point.raw());
                    multiply_many::<MultiplyShort<$G>, $G>(&mut raw[..points.len()], |i| {
                        [weights[i], 0, 0, 0]
                    });
                    for (point, raw) in points.iter_mut().zip(raw) {
                        *point = Projective::from_raw(raw);
                    }
                }
            }

            fn clear_cofactor(a: &[$memory; 3]) -> [$memory; 3] {
                single::<ClearCofactor<$G>>(a, *a)
            }

            fn map_to_curve(uniform: &[[u8; 64]]) -> [$memory; 3] {
                let mut input = [[0; 64]; 4];
                input[..uniform.len()].copy_from_slice(uniform);
                let infinity = <Self as Group<$G>>::identity();
                if uniform.len() == $G::DEGREE {
                    single::<EncodeToCurve<$G>>(&input, infinity)
                } else {
                    single::<HashToCurve<$G>>(&input, infinity)
                }
            }

            // Apart from `encode_to_curve`, so that a program contains only what it uses.
            fn hash_to_curve(message: &super::super::Message<'_>, dst: &[u8]) -> [$memory; 3] {
                let mut input = [[0; 64]; 4];
                let uniform = input[..2 * $G::DEGREE].as_flattened_mut();
                hash::expand(message, &hash::Dst::new(dst), uniform);
                single::<HashToCurve<$G>>(&input, <Self as Group<$G>>::identity())
            }

            fn encode_to_curve(message: &super::super::Message<'_>, dst: &[u8]) -> [$memory; 3] {
                let mut input = [[0; 64]; 4];
                let uniform = input[..$G::DEGREE].as_flattened_mut();
                hash::expand(message, &hash::Dst::new(dst), uniform);
                single::<EncodeToCurve<$G>>(&input, <Self as Group<$G>>::identity())
            }

            fn hash_to_curve_many(
                messages: &[super::super::Message<'_>],
                dst: &[u8],
                points: &mut [Projective<Self, $G>],
            ) {
                const HASHES: usize = 8;
                let dst = hash::Dst::new(dst);
                for (messages, points) in messages.chunks(HASHES).zip(points.chunks_mut(HASHES)) {
                    let mut inputs = [[[0; 64]; 4]; HASHES];
                    for (input, message) in inputs.iter_mut().zip(messages) {
                        let uniform = input[..2 * $G::DEGREE].as_flattened_mut();
                        hash::expand(message, &dst, uniform);
                    }
                    let mut outputs = [<Self as Group<$G>>::identity(); HASHES];
                    let count = messages.len();
                    many::<HashToCurve<$G>>(&inputs[..count], &mut outputs[..count]);
                    for (point, output) in points.iter_mut().zip(outputs) {
                        *point = Projective::from_raw(output);
                    }
                }
            }

            fn msm_integers_vartime<'a>(
                n: usize,
                point: impl Fn(usize) -> &'a [$memory; 2],
                integer: impl Fn(usize) -> Integer,
            ) -> [$memory; 3] {
                let mut scratch = [0; msm::ANY_SCRATCH * $G::DEGREE];
                let mut sum = <Self as Group<$G>>::identity();
                for start in (0..n).step_by(msm::ANY) {
                    let plan = Plan::of_any(msm::ANY.min(n - start));
                    let part = msm::sum_of_multiples::<$G>(
                        plan,
                        |i| point(start + i),
                        |i| integer(start + i),
                        &mut scratch,
                    );
                    sum = <Self as Group<$G>>::add(&sum, &part);
                }
                sum
            }

            fn msm_scratch_limbs(n: usize) -> usize {
                msm::scratch::<$G>(n, threads::parts(n))
            }

            fn msm_vartime(
                points: &[Affine<Self, $G>],
                scalars: &[Fr<Self>],
                scratch: &mut [u64],
            ) -> [$memory; 3] {
                msm::sum_of_parts::<$G>(points, scalars, scratch, threads::parts(points.len()))
            }

            fn table_limbs(points: usize, size: usize) -> usize {
                msm::prepared::table_limbs::<$G>(points, size)
            }

            fn prepare_sums(
                points: &[Affine<Self, $G>],
                size: usize,
                table: &mut [u64],
            ) -> Self::TableForm {
                msm::prepared::prepare::<$G>(Backend::best(), points, size, table)
            }

            fn prepared_scratch_limbs(points: usize, size: usize) -> usize {
                msm::prepared::scratch::<$G>(points, size)
            }

            fn prepared_sums_vartime(
                _: &[Affine<Self, $G>],
                (table, form): (&[u64], &Self::TableForm),
                size: usize,
                scalars: &[Fr<Self>],
                sums: &mut [Projective<Self, $G>],
                scratch: &mut [u64],
            ) {
                msm::prepared::sums_of_multiples::<$G>(form, table, size, scalars, sums, scratch);
            }
        }
    };
}

group!(First Words);
group!(Second [Words; 2]);
