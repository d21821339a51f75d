//! Formulas over Fr that a backend computes on one state, or on many side by side.

/// The arithmetic modulo r in which a [`Formula`] is written.
///
/// Time depends on no value.
pub trait Ring: Copy {
    /// A scalar in memory: [`Scalars::Fr`](super::Scalars::Fr) of a backend.
    type Constant;

    /// One number of each state.
    type Element: Copy;

    /// Returns the same number for each state.
    fn constant(self, constant: &Self::Constant) -> Self::Element;

    /// Returns a + b.
    fn add(self, a: &Self::Element, b: &Self::Element) -> Self::Element;

    /// Returns a − b.
    fn sub(self, a: &Self::Element, b: &Self::Element) -> Self::Element;

    /// Returns a · b.
    fn mul(self, a: &Self::Element, b: &Self::Element) -> Self::Element;

    /// Returns a².
    fn square(self, a: &Self::Element) -> Self::Element;

    /// Returns a^(2^times); `times` is public.
    #[inline(always)]
    fn square_times(self, a: &Self::Element, times: usize) -> Self::Element {
        let mut power = *a;
        for _ in 0..times {
            power = self.square(&power);
        }
        power
    }

    /// Returns a₀·b₀ + a₁·b₁ + …, for two arrays that are not empty.
    #[inline(always)]
    fn inner_product<const N: usize>(
        self,
        a: &[Self::Element; N],
        b: &[Self::Element; N],
    ) -> Self::Element {
        let mut sum = self.mul(&a[0], &b[0]);
        for i in 1..N {
            sum = self.add(&sum, &self.mul(&a[i], &b[i]));
        }
        sum
    }
}

/// A formula on a state of `T` elements of Fr, with constants of the type `C`.
pub trait Formula<C, const T: usize> {
    /// Replaces the state by the formula's result.
    fn apply<R: Ring<Constant = C>>(&self, ring: R, state: &mut [R::Element; T]);
}
