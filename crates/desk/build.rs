//! Puts every file of `locales/` into the binary, so that adding a language is adding a file.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let folder = Path::new(&root).join("locales");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<_> = fs::read_dir(&folder)?.collect::<io::Result<_>>()?;
    files.sort_by_key(fs::DirEntry::file_name);
    let mut code = String::from("&[\n");
    for file in files {
        let path = file.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let language = path.file_stem().unwrap_or_default().to_string_lossy();
            let _ = writeln!(code, "({language:?}, include_str!({path:?})),");
        }
    }
    code.push(']');
    fs::write(Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("locales.rs"), code)
}
