//! The domain: its socket, its manager, and what is there.

pub mod answer;
pub mod descriptors;
pub mod folder;
pub mod holders;
pub mod libraries;
pub mod lock;
pub mod losses;
pub mod manager;
pub mod pairs;
pub mod place;
pub mod publishers;
pub mod stopped;
pub mod strangers;
