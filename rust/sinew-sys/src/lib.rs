//! Declarations of the C interface of sinew.
