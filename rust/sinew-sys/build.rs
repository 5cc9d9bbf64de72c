//! Finds the library by pkg-config.

fn main() {
    if let Err(error) = pkg_config::Config::new().atleast_version("0.1").probe("sinew-c") {
        println!(
            "cargo::error=sinew is not found: install it (`make install`), and have PKG_CONFIG_PATH name the folder of its sinew-c.pc if that is none of the system's"
        );
        println!("cargo::error={}", error.to_string().replace('\n', " "));
    }
}
