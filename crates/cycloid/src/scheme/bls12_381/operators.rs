//! Macros that implement operators by the functions of a backend or by other operators.

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

/// Implements an operator with a reference, by the operator with a value.
macro_rules! by_reference {
    ($([$($generics:tt)*] $left:ty, $right:ty => $output:ty, $trait:ident, $method:ident;)*) => {$(
        impl<$($generics)*> $trait<&$right> for $left {
            type Output = $output;

            #[inline]
            fn $method(self, other: &$right) -> $output {
                $trait::$method(self, *other)
            }
        }
    )*};
}

/// Implements an assigning operator, by the operator that it assigns the result of.
macro_rules! assigning {
    ($([$($generics:tt)*] $left:ty, $right:ty, $trait:ident, $method:ident, $by:expr;)*) => {$(
        impl<$($generics)*> $trait<$right> for $left {
            #[inline]
            fn $method(&mut self, other: $right) {
                *self = $by(*self, other);
            }
        }
    )*};
}

/// Implements sums or products of references, by those of values.
macro_rules! folds {
    ($([$($generics:tt)*] $type:ty, $trait:ident, $method:ident;)*) => {$(
        impl<'a, $($generics)*> $trait<&'a $type> for $type {
            fn $method<I: Iterator<Item = &'a $type>>(elements: I) -> Self {
                $trait::$method(elements.copied())
            }
        }
    )*};
}

pub(super) use {assigning, by_reference, folds, ring};
