//! Macros for the usual signature of blst's functions: a pointer to the result, then pointers to
//! the arguments.

/// `result!(f(a, b))` returns the value that `f(out, a, b)` writes to `out`. `f` is a function of
/// blst that takes a pointer to its result and then the given arguments, with references as
/// pointers.
macro_rules! result {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        let mut out = Default::default();
        // SAFETY: result and arguments are references, so they are valid. Their types are checked
        // against those of the function, which accesses one value through each.
        unsafe { blst::$function(&mut out, $($argument),*) };
        out
    }};
}

/// `test!(f(a, b))` returns the result of blst's function `f` on references.
macro_rules! test {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: as in `result`.
        unsafe { blst::$function($($argument),*) }
    }};
}

pub(crate) use {result, test};
