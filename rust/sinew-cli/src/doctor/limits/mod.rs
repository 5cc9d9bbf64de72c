//! What this process, and those that are started like it, may take.

pub mod address_space;
pub mod descriptors;
pub mod file_size;
pub mod locked;
pub mod mappings;
pub mod priority;
