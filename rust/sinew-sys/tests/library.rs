//! The library that pkg-config finds.

#[test]
fn the_library_is_of_the_version_of_the_header() {
    // SAFETY: it reads a constant.
    let library = unsafe { sinew_sys::sinew_abi_version() };
    assert_eq!(library, sinew_sys::SINEW_ABI_VERSION);
}
