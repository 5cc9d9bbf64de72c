//! `src/dds/sys.rs` says what `bridges/raw_dds.h` says.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Where `<stddef.h>` is, since libclang comes without.
fn headers_of_the_compiler() -> String {
    let told = Command::new("cc").arg("-print-file-name=include").output().expect("there is a C compiler");
    String::from_utf8(told.stdout).expect("a path is a text").trim().to_owned()
}

/// The fields of all structures, each with its type as both sides could have written it.
fn structures(source: &str) -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::new();
    for (at, _) in source.match_indices("pub struct ") {
        let declared = &source[at + "pub struct ".len()..];
        let Some((name, body)) = declared.split_once('{') else { continue };
        // Structures of one kind of which nothing is known are declared in another way.
        if name.contains('(') {
            continue;
        }
        let body = &body[..body.find('}').expect("it ends")];
        let fields: Vec<String> = body.split("pub ").skip(1).map(plain).collect();
        if !fields.is_empty() {
            all.insert(name.trim().trim_start_matches("sinew_dds_").to_owned(), fields);
        }
    }
    all
}

/// `write: Option<unsafe extern "C" fn(writer: *mut sinew_dds_writer) -> bool>,` as `write:unsafeextern"C"fn(*mutwriter)->bool`.
fn plain(field: &str) -> String {
    let short = field
        .replace("sinew_dds_", "")
        .replace("::std::os::raw::", "")
        .replace("::std::option::Option<", "")
        .replace("type_", "ty")
        .replace("usize]", "]");
    let (name, ty) = short.split_once(':').expect("it has a type");
    let ty = ty.trim().trim_end_matches(',').trim_end_matches('>');
    let ty = match ty.split_once("fn(") {
        Some((before, arguments)) => {
            let (arguments, behind) = arguments.rsplit_once(')').expect("it ends");
            let types =
                arguments.split(',').map(|one| one.rsplit_once(": ").map_or(one, |(_, ty)| ty).trim()).filter(|one| !one.is_empty());
            format!("{before}fn({}){}", types.collect::<Vec<_>>().join(","), behind.trim().trim_end_matches(','))
        }
        None => ty.to_owned(),
    };
    let spaceless = |text: &str| text.split_whitespace().collect::<String>();
    format!("{}:{}", spaceless(name), spaceless(&ty))
}

#[test]
fn the_declarations_are_those_of_the_header() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let bindings = bindgen::builder()
        .header(here.join("../../bridges/raw_dds.h").to_str().expect("a path is a text"))
        .clang_args(["-isystem", &headers_of_the_compiler()])
        .allowlist_item("(sinew_dds|SINEW_DDS)_.*")
        .prepend_enum_name(false)
        .layout_tests(false)
        .derive_debug(false)
        .generate_comments(false)
        .disable_header_comment()
        .formatter(bindgen::Formatter::Prettyplease)
        .generate()
        .expect("bindgen reads the header")
        .to_string();
    let written = std::fs::read_to_string(here.join("src/dds/sys.rs")).expect("it is there");
    let (mut header, ours) = (structures(&bindings), structures(&written));
    header.retain(|_, fields| !fields[0].starts_with("_unused"));
    assert_eq!(ours, header);
    assert!(ours.len() > 10, "{} structures", ours.len());
    assert!(bindings.contains("SINEW_DDS_VERSION: u32 = 3;") && written.contains("VERSION: u32 = 3;"));
    assert!(bindings.contains("= 256;") && written.contains("WHY: usize = 256;"));
}
