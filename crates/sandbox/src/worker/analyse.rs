//! What the source of a module says of itself. It has been through the compiler before, which refuses
//! what is nested too deep for the parser here.

use std::collections::HashSet;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    Declaration, ExportDefaultDeclarationKind, Expression, FormalParameters, Function, Program, Statement,
    StaticMemberExpression, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::{Parser, ParserReturn};
use oxc_semantic::{Semantic, SemanticBuilder};
use oxc_span::{GetSpan, SourceType, Span};
use oxc_syntax::module_record::{ExportExportName, ExportImportName, ImportImportName};

use super::shop::Shop;
use crate::analysis::{Analysis, Import, Mention, Parameter, Signature};

/// Most entries of one kind that are told.
const MOST: usize = 500;

/// The longest comment that is told.
const COMMENT: usize = 4_000;

/// Names that a module exports, in the order of its source.
pub(super) fn exports(source: &str) -> Vec<String> {
    let allocator = Allocator::default();
    let parsed = parse(&allocator, source);
    let record = &parsed.module_record;
    let all = record.local_export_entries.iter().chain(&record.indirect_export_entries);
    let mut found: Vec<(u32, String)> = all
        .chain(&record.star_export_entries)
        .filter_map(|entry| {
            let name = match &entry.export_name {
                ExportExportName::Name(name) => name.name.as_str(),
                ExportExportName::Default(_) => "default",
                ExportExportName::Null if matches!(entry.import_name, ExportImportName::AllButDefault) => "*",
                ExportExportName::Null => return None,
            };
            Some((entry.span.start, name.to_owned()))
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, name)| name).collect()
}

fn parse<'a>(allocator: &'a Allocator, source: &'a str) -> ParserReturn<'a> {
    Parser::new(allocator, source, SourceType::mjs()).parse()
}

/// Analyses a module that compiles.
pub(super) fn analyse(source: &str) -> Analysis {
    let allocator = Allocator::default();
    let parsed = parse(&allocator, source);
    let semantic = SemanticBuilder::new().with_build_nodes(true).build(&parsed.program).semantic;
    let text = Text::new(source);
    let exported: HashSet<&str> =
        parsed.module_record.exported_bindings.keys().map(|name| name.as_str()).collect();
    let mut host = HostMentions { text: &text, found: Vec::new() };
    host.visit_program(&parsed.program);
    let mut analysis = Analysis {
        functions: functions(&parsed.program, &text),
        imports: imports(&parsed, &text),
        undeclared: undeclared(&semantic, &text),
        unused: unused(&semantic, &exported, &text),
        host: host.found,
    };
    analysis.functions.truncate(MOST);
    analysis.imports.truncate(MOST);
    analysis.undeclared.truncate(MOST);
    analysis.unused.truncate(MOST);
    analysis.host.truncate(MOST);
    analysis
}

/// The source, which turns offsets into lines and columns.
struct Text<'a> {
    source: &'a str,
    /// Where each line begins.
    lines: Vec<usize>,
}

impl<'a> Text<'a> {
    fn new(source: &'a str) -> Self {
        let after = source.match_indices('\n').map(|(at, _)| at + 1);
        Self { source, lines: std::iter::once(0).chain(after).collect() }
    }

    fn part(&self, span: Span) -> &'a str {
        self.source.get(offset(span.start)..offset(span.end)).unwrap_or_default()
    }

    /// Line and column, both from 1; columns count characters.
    fn place(&self, at: u32) -> (u32, u32) {
        let at = offset(at);
        let line = self.lines.partition_point(|start| *start <= at);
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let column = self.source.get(start..at).map_or(0, |before| before.chars().count()) + 1;
        (number(line), number(column))
    }

    fn mention(&self, name: &str, at: u32) -> Mention {
        let (line, column) = self.place(at);
        Mention { name: name.to_owned(), line, column }
    }
}

fn offset(at: u32) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Exported functions: declarations, functions in exported constants, functions exported by name later.
fn functions(program: &Program<'_>, text: &Text<'_>) -> Vec<Signature> {
    let mut found = Vec::new();
    for statement in &program.body {
        match statement {
            Statement::ExportDeclaration(export) => {
                found.extend(
                    declared(&export.declaration)
                        .into_iter()
                        .map(|(name, function)| signature(program, text, name, function, export.span)),
                );
            }
            Statement::ExportDefaultDeclaration(export) => {
                let function = match &export.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                        Some(Callable::from(&**function))
                    }
                    other => other.as_expression().and_then(callable),
                };
                found.extend(
                    function.map(|function| signature(program, text, "default", function, export.span)),
                );
            }
            Statement::ExportNamedDeclaration(export) => {
                for specifier in &export.specifiers {
                    let local = specifier.local.name();
                    let function = program.body.iter().find_map(|statement| {
                        let declaration = statement.as_declaration()?;
                        let (_, function) =
                            declared(declaration).into_iter().find(|(name, _)| *name == local.as_str())?;
                        Some((function, statement.span()))
                    });
                    found.extend(function.map(|(function, span)| {
                        signature(program, text, specifier.exported.name().as_str(), function, span)
                    }));
                }
            }
            _ => {}
        }
    }
    found
}

/// A function of either form.
struct Callable<'b, 'a> {
    parameters: &'b FormalParameters<'a>,
    is_async: bool,
}

impl<'b, 'a> From<&'b Function<'a>> for Callable<'b, 'a> {
    fn from(function: &'b Function<'a>) -> Self {
        Self { parameters: &function.params, is_async: function.r#async }
    }
}

fn callable<'b, 'a>(expression: &'b Expression<'a>) -> Option<Callable<'b, 'a>> {
    match expression {
        Expression::FunctionExpression(function) => Some(Callable::from(&**function)),
        Expression::ArrowFunctionExpression(arrow) => {
            Some(Callable { parameters: &arrow.params, is_async: arrow.r#async })
        }
        _ => None,
    }
}

/// The functions that a declaration declares.
fn declared<'b, 'a>(declaration: &'b Declaration<'a>) -> Vec<(&'b str, Callable<'b, 'a>)> {
    match declaration {
        Declaration::FunctionDeclaration(function) => {
            function.id.iter().map(|id| (id.name.as_str(), Callable::from(&**function))).collect()
        }
        Declaration::VariableDeclaration(variables) => {
            variables.declarations.iter().filter_map(constant).collect()
        }
        _ => Vec::new(),
    }
}

fn constant<'b, 'a>(variable: &'b VariableDeclarator<'a>) -> Option<(&'b str, Callable<'b, 'a>)> {
    let name = variable.id.get_binding_identifier()?.name.as_str();
    Some((name, callable(variable.init.as_ref()?)?))
}

fn signature(
    program: &Program<'_>,
    text: &Text<'_>,
    name: &str,
    function: Callable<'_, '_>,
    statement: Span,
) -> Signature {
    let mut parameters: Vec<Parameter> = function
        .parameters
        .items
        .iter()
        .map(|parameter| Parameter {
            name: text.part(parameter.pattern.span()).to_owned(),
            default: parameter.initializer.as_ref().map(|default| text.part(default.span()).to_owned()),
        })
        .collect();
    parameters.extend(
        function
            .parameters
            .rest
            .iter()
            .map(|rest| Parameter { name: text.part(rest.span).to_owned(), default: None }),
    );
    let (line, column) = text.place(statement.start);
    let comment = comment(program, text, statement);
    Signature { name: name.to_owned(), parameters, is_async: function.is_async, comment, line, column }
}

/// The comment right before a statement, without its marks.
fn comment(program: &Program<'_>, text: &Text<'_>, statement: Span) -> String {
    let before = program.comments.iter().rev().find(|comment| comment.span.end <= statement.start);
    let Some(comment) = before else { return String::new() };
    let between = text.part(Span::new(comment.span.end, statement.start));
    if !between.trim().is_empty() || between.matches('\n').count() > 1 {
        return String::new();
    }
    let written = text.part(comment.span);
    let inner = written.strip_prefix("/*").map_or(written, |inner| inner.strip_suffix("*/").unwrap_or(inner));
    let lines = inner.lines().map(|line| line.trim().trim_start_matches(['*', '/']).trim());
    let whole = lines.collect::<Vec<_>>().join("\n");
    whole.trim().chars().take(COMMENT).collect()
}

fn imports(parsed: &ParserReturn<'_>, text: &Text<'_>) -> Vec<Import> {
    let record = &parsed.module_record;
    let mut found: Vec<(u32, Import)> = Vec::new();
    for (module, requests) in &record.requested_modules {
        for request in requests {
            let names =
                record.import_entries.iter().filter(|entry| entry.statement_span == request.statement_span);
            let names = names
                .map(|entry| match &entry.import_name {
                    ImportImportName::Name(name) => text.mention(name.name.as_str(), name.span.start),
                    ImportImportName::NamespaceObject => text.mention("*", entry.local_name.span.start),
                    ImportImportName::Default(span) => text.mention("default", span.start),
                })
                .collect();
            let (line, column) = text.place(request.span.start);
            found.push((
                request.span.start,
                Import { module: module.as_str().to_owned(), names, line, column },
            ));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, import)| import).collect()
}

/// Names that are used and declared nowhere, each use of them.
fn undeclared(semantic: &Semantic<'_>, text: &Text<'_>) -> Vec<Mention> {
    let known: HashSet<String> = Shop::known_names().into_iter().collect();
    let scoping = semantic.scoping();
    let mut found: Vec<(u32, Mention)> = Vec::new();
    for (name, references) in scoping.root_unresolved_references() {
        if known.contains(name.as_str()) {
            continue;
        }
        for reference in references {
            if is_asked_for_its_type(semantic, scoping.get_reference(*reference).node_id()) {
                continue;
            }
            let at = semantic.reference_span(scoping.get_reference(*reference)).start;
            found.push((at, text.mention(name.as_str(), at)));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, mention)| mention).collect()
}

/// `typeof name` is how a script asks whether there is such a name.
fn is_asked_for_its_type(semantic: &Semantic<'_>, node: oxc_semantic::NodeId) -> bool {
    use oxc_ast::AstKind;
    let parent = semantic.nodes().parent_kind(node);
    matches!(parent, AstKind::UnaryExpression(unary) if unary.operator == oxc_syntax::operator::UnaryOperator::Typeof)
}

/// Names that are declared and never used. A parameter is part of a function's shape, and one that
/// begins with `_` is meant to be unused.
fn unused(semantic: &Semantic<'_>, exported: &HashSet<&str>, text: &Text<'_>) -> Vec<Mention> {
    let scoping = semantic.scoping();
    let root = scoping.root_scope_id();
    let mut found: Vec<(u32, Mention)> = Vec::new();
    for symbol in scoping.symbol_ids().filter(|symbol| scoping.symbol_is_unused(*symbol)) {
        let name = scoping.symbol_name(symbol);
        let is_exported = scoping.symbol_scope_id(symbol) == root && exported.contains(name);
        let flags = scoping.symbol_flags(symbol);
        let is_parameter = flags.is_function_scoped_declaration()
            && !flags.is_function()
            && is_in_parameters(semantic, symbol);
        if is_exported || is_parameter || name.starts_with('_') {
            continue;
        }
        let at = scoping.symbol_span(symbol).start;
        found.push((at, text.mention(name, at)));
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, mention)| mention).collect()
}

fn is_in_parameters(semantic: &Semantic<'_>, symbol: oxc_semantic::SymbolId) -> bool {
    use oxc_ast::AstKind;
    matches!(
        semantic.symbol_declaration(symbol).kind(),
        AstKind::FormalParameter(_)
            | AstKind::FormalParameters(_)
            | AstKind::FormalParameterRest(_)
            | AstKind::CatchParameter(_)
    )
}

/// Finds `shop.name` and `shop.group.name`.
struct HostMentions<'t, 'a> {
    text: &'t Text<'a>,
    found: Vec<Mention>,
}

impl<'a> Visit<'a> for HostMentions<'_, '_> {
    fn visit_static_member_expression(&mut self, member: &StaticMemberExpression<'a>) {
        match path(member) {
            Some(path) => self.found.push(self.text.mention(&path, member.span.start)),
            None => walk::walk_static_member_expression(self, member),
        }
    }
}

/// What follows `shop.`, if this is that.
fn path(member: &StaticMemberExpression<'_>) -> Option<String> {
    let name = member.property.name.as_str();
    match &member.object {
        Expression::Identifier(object) if object.name == "shop" => Some(name.to_owned()),
        Expression::StaticMemberExpression(object) => Some(format!("{}.{name}", path(object)?)),
        _ => None,
    }
}
