//! Operators for the ring types of a backend.

/// Implements `+`, `-` and `*` and their assigning forms, on values, with the backend's functions.
macro_rules! ring {
    ($type:ty, $backend:ident, $add:ident, $sub:ident, $mul:ident) => {
        $crate::scheme::bls12_381::operators::ring!(@ $type, $backend, Add, add, AddAssign, add_assign, $add);
        $crate::scheme::bls12_381::operators::ring!(@ $type, $backend, Sub, sub, SubAssign, sub_assign, $sub);
        $crate::scheme::bls12_381::operators::ring!(@ $type, $backend, Mul, mul, MulAssign, mul_assign, $mul);
    };
    (@ $type:ty, $backend:ident, $trait:ident, $method:ident, $assign:ident, $assign_method:ident, $function:ident) => {
        impl<B: $backend> $trait for $type {
            type Output = Self;

            #[inline]
            fn $method(self, other: Self) -> Self {
                Self(B::$function(&self.0, &other.0))
            }
        }

        impl<B: $backend> $assign for $type {
            #[inline]
            fn $assign_method(&mut self, other: Self) {
                *self = $trait::$method(*self, other);
            }
        }
    };
}

pub(super) use ring;
