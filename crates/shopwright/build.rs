//! Puts every file of `src/store_files/` into the binary, so that a page of the sample store is added by adding its files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let folder = Path::new(&root).join("src/store_files");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    walk(&folder, &mut files)?;
    files.sort();
    let mut code = String::from("&[\n");
    for path in files {
        println!("cargo::rerun-if-changed={}", path.display());
        let name = path.strip_prefix(&folder).map_err(io::Error::other)?;
        let name = name.to_string_lossy().replace('\\', "/");
        let _ = writeln!(code, "({name:?}, include_bytes!({path:?})),");
    }
    code.push(']');
    fs::write(Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("store_files.rs"), code)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            println!("cargo::rerun-if-changed={}", entry.path().display());
            walk(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}
