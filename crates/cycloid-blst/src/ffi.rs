//! The shape that most functions of blst have: a result through a pointer, and arguments that are
//! pointers to values.

/// `result!(f(a, b))` is what `f(out, a, b)` writes to `out`, where `f` is a function of blst that
/// takes a pointer to its result and the arguments as they stand here, references for pointers.
macro_rules! result {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        let mut out = Default::default();
        // SAFETY: the result and the arguments are references, so they are valid, and their types
        // are checked against those of the function, which reads one value through each.
        unsafe { blst::$function(&mut out, $($argument),*) };
        out
    }};
}

/// `test!(f(a, b))` is what the function `f` of blst returns of references.
macro_rules! test {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: as in `result`.
        unsafe { blst::$function($($argument),*) }
    }};
}

pub(crate) use {result, test};
