//! `src/bindings.rs` is what bindgen makes of the header. After a change of the header: `SINEW_BLESS=1 cargo test -p sinew-sys --test bindings`.

use std::path::Path;
use std::process::Command;

/// Where `<stddef.h>` is, since libclang comes without.
fn headers_of_the_compiler() -> String {
    let told = Command::new("cc").arg("-print-file-name=include").output().expect("there is a C compiler");
    String::from_utf8(told.stdout).expect("a path is a text").trim().to_owned()
}

#[test]
fn the_bindings_are_those_of_the_header() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let bindings = bindgen::builder()
        .header(here.join("../../bindings/c/sinew.h").to_str().expect("a path is a text"))
        .clang_args(["-fparse-all-comments", "-isystem", &headers_of_the_compiler()])
        .allowlist_item("(sinew|SINEW)_.*")
        .prepend_enum_name(false)
        .derive_default(true)
        .disable_header_comment()
        .formatter(bindgen::Formatter::Prettyplease)
        .generate()
        .expect("bindgen reads the header")
        .to_string();
    let mut current = "// What bindgen makes of sinew.h: see tests/bindings.rs.\n// Long because: the whole interface is one header.\n#![cfg_attr(rustfmt, rustfmt_skip)]\n".to_owned();
    for line in bindings.lines().filter(|line| !line.starts_with("/// --- ")) {
        current += line;
        current += "\n";
    }
    let path = here.join("src/bindings.rs");
    if std::env::var_os("SINEW_BLESS").is_some() {
        std::fs::write(&path, &current).expect("the sources can be written");
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == current, "the header has changed: SINEW_BLESS=1 cargo test -p sinew-sys --test bindings");
}
