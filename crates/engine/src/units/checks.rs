//! What tools ask of units' code, manifests and templates before they save them.

use sandbox::{CompileError, Mention, Signature};
use serde_json::{Map, Value};
use tools::{CodeReport, Mistake};
use wire::{Fault, Stop};

use super::Units;
use super::error::UnitError;
use super::manifest::Manifest;
use super::templates::Group;

impl Units {
    /// Reads code; nothing is run.
    pub(super) fn read_code(&self, path: &str, source: &str) -> Result<Result<CodeReport, Mistake>, Stop> {
        if source.trim().is_empty() {
            return Ok(Ok(CodeReport::default()));
        }
        let pool = self.pool().map_err(|error| Fault::new(error.to_string()))?;
        let checked = pool.compile(path, source).and_then(|_| pool.analyse(path, source));
        let analysis = match checked {
            Ok(analysis) => analysis,
            Err(CompileError::Syntax(error)) => {
                let (line, column, text) = (error.line, error.column, error.text);
                return Ok(Err(Mistake { line, column, text }));
            }
            Err(CompileError::Pool(error)) => return Err(Fault::new(error.to_string()).into()),
        };
        Ok(Ok(CodeReport {
            functions: analysis.functions.iter().map(|one| (one.name.clone(), signature(one))).collect(),
            imports: analysis.imports.into_iter().map(|import| import.module).collect(),
            undeclared: analysis.undeclared.into_iter().map(place).collect(),
            unused: analysis.unused.into_iter().map(place).collect(),
        }))
    }
}

/// Reads a template.
pub(super) fn template(path: &str, source: &str) -> Result<(), Mistake> {
    Group::check(path, source).map_err(|error| Mistake {
        line: u32::try_from(error.line).unwrap_or(0),
        column: 0,
        text: error.text,
    })
}

/// Reads a manifest; answers it with every key there is.
pub(super) fn manifest(path: &str, source: &str) -> Result<Map<String, Value>, Mistake> {
    let mistake = |error: UnitError| match error {
        UnitError::Syntax { line, column, text, .. } => Mistake { line, column, text },
        other => Mistake { line: 0, column: 0, text: other.to_string() },
    };
    let manifest = Manifest::parse(path, source).map_err(mistake)?;
    match serde_json::to_value(manifest) {
        Ok(Value::Object(manifest)) => Ok(manifest),
        _ => Ok(Map::new()),
    }
}

fn place(mention: Mention) -> (String, u32, u32) {
    (mention.name, mention.line, mention.column)
}

/// `name(id, mode = "list")`, with what its comment says.
fn signature(function: &Signature) -> String {
    let parameters = function.parameters.iter().map(|parameter| match &parameter.default {
        Some(default) => format!("{} = {default}", parameter.name),
        None => parameter.name.clone(),
    });
    let parameters: Vec<_> = parameters.collect();
    let is_async = if function.is_async { "async " } else { "" };
    let comment = function.comment.split_whitespace().collect::<Vec<_>>().join(" ");
    let comment =
        if comment.is_empty() { comment } else { format!(" // {}", wire::text::quoted(&comment, 200)) };
    format!("{is_async}{}({}){comment}", function.name, parameters.join(", "))
}
