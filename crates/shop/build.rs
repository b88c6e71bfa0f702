//! Builds every `locales/<language>.toml` into the crate: a language is added by adding its file.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("locales");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<_> = fs::read_dir(&folder)?.collect::<Result<_, _>>()?;
    files.sort_by_key(fs::DirEntry::file_name);
    let mut code = String::from("/// All languages, by code.\npub static LANGUAGES: &[Language] = &[\n");
    for file in files {
        let path = file.path();
        if path.extension().is_none_or(|end| end != "toml") {
            continue;
        }
        println!("cargo::rerun-if-changed={}", path.display());
        let language = path.file_stem().unwrap_or_default().to_string_lossy();
        let table: toml::Table = fs::read_to_string(&path)?.parse()?;
        let mut texts = Vec::new();
        flatten("", &table, &mut texts).map_err(|key| format!("{}: `{key}` is not text", path.display()))?;
        texts.sort();
        writeln!(code, "    Language {{ code: {language:?}, texts: &[")?;
        for (key, text) in texts {
            writeln!(code, "        ({key:?}, {text:?}),")?;
        }
        writeln!(code, "    ] }},")?;
    }
    code.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("languages.rs"), code)?;
    Ok(())
}

/// `[a.b] c = "text"` becomes `a.b.c`.
fn flatten(before: &str, table: &toml::Table, texts: &mut Vec<(String, String)>) -> Result<(), String> {
    for (key, value) in table {
        let key = if before.is_empty() { key.clone() } else { format!("{before}.{key}") };
        match value {
            toml::Value::String(text) => texts.push((key, text.clone())),
            toml::Value::Table(inner) => flatten(&key, inner, texts)?,
            _ => return Err(key),
        }
    }
    Ok(())
}
