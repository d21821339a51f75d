//! Sums of multiples of fixed public points, with a table.

use super::backend::{Group, SourceGroup};
use super::error::equal_counts;
use super::{Affine, Error, Fr, Projective};

/// Fixed points, prepared for one or several sums of multiples with public scalars. Each sum takes
/// the same number of consecutive points.
///
/// `P` holds the points and `T` the table, such as slices or vectors; both are from the caller.
pub struct PreparedSums<B: Group<G>, G: SourceGroup, P, T> {
    points: P,
    table: T,
    form: B::TableForm,
    size: usize,
}

impl<B: Group<G>, G: SourceGroup, P, T> PreparedSums<B, G, P, T>
where
    P: AsRef<[Affine<B, G>]>,
    T: AsRef<[u64]> + AsMut<[u64]>,
{
    /// Prepares points for sums of `size` of them each. `table` has
    /// [`table_limbs`](Self::table_limbs) limbs; it is overwritten and kept.
    ///
    /// # Errors
    /// [`Error::Counts`] if the number of points is not a multiple of `size`;
    /// [`Error::ScratchTooSmall`] for the table.
    pub fn new(points: P, size: usize, mut table: T) -> Result<Self, Error> {
        let all = points.as_ref();
        if size == 0 || !all.len().is_multiple_of(size) {
            return Err(Error::Counts { first: all.len(), other: size });
        }
        check_room(Self::table_limbs(all.len(), size), table.as_ref().len())?;
        let form = <B as Group<G>>::prepare_sums(all, size, table.as_mut());
        Ok(Self { points, table, form, size })
    }

    /// Returns the limbs of a table for some points in sums of `size`.
    pub fn table_limbs(points: usize, size: usize) -> usize {
        <B as Group<G>>::table_limbs(points, size)
    }

    /// Returns the points.
    pub fn points(&self) -> &[Affine<B, G>] {
        self.points.as_ref()
    }

    /// Returns the number of sums.
    pub fn sums(&self) -> usize {
        self.points.as_ref().len() / self.size
    }

    /// Returns the limbs of scratch of [`compute_vartime`](Self::compute_vartime).
    pub fn scratch_limbs(&self) -> usize {
        <B as Group<G>>::prepared_scratch_limbs(self.points.as_ref().len(), self.size)
    }

    /// Computes each of the sums Σ scalarsᵢ · pointsᵢ over its part of the points, for public
    /// scalars, as many as points.
    ///
    /// # Errors
    /// [`Error::Counts`], [`Error::ScratchTooSmall`].
    pub fn compute_vartime(
        &self,
        scalars: &[Fr<B>],
        sums: &mut [Projective<B, G>],
        scratch: &mut [u64],
    ) -> Result<(), Error> {
        let points = self.points.as_ref();
        equal_counts(points.len(), scalars.len())?;
        equal_counts(self.sums(), sums.len())?;
        check_room(self.scratch_limbs(), scratch.len())?;
        let table = (self.table.as_ref(), &self.form);
        <B as Group<G>>::prepared_sums_vartime(points, table, self.size, scalars, sums, scratch);
        Ok(())
    }
}

fn check_room(needed: usize, given: usize) -> Result<(), Error> {
    if given < needed { Err(Error::ScratchTooSmall { needed, given }) } else { Ok(()) }
}
