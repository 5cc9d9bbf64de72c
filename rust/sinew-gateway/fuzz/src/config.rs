//! Any text as a configuration: read, or refused with a place in it.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use sinew_gateway::config::Settings;

fuzz_target!(|text: &str| {
    if let Err(error) = Settings::parse(Path::new("fuzz.json"), text) {
        assert!(error.to_string().contains("fuzz.json"), "NOT TRUE: an error says where it is: {error}");
    }
});
