pub mod modular;
