//! Floor 2: numbers. No bytes, no formats, no `unsafe`.

<<<<<<< HEAD
pub mod curve;
=======
mod curve;
>>>>>>> 616789d (Compute the tables of the curves' base points by a program of the repository)
pub(crate) mod field;
pub(crate) mod jacobi;
pub mod modular;
pub mod prime;
