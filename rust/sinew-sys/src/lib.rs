//! Declarations of `sinew.h`, the interface of sinew for other languages; each with what the header says of it. Programs in Rust use the crate `sinew`, which stands on this one.
#![allow(missing_docs, non_camel_case_types, clippy::undocumented_unsafe_blocks)]

mod bindings;

pub use bindings::*;
