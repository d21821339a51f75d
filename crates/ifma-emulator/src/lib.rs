//! Executes the AVX-512 IFMA instructions in a handler for illegal instructions, for tests.
