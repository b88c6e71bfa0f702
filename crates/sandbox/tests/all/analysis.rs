//! What a source says of itself.

use sandbox::Mention;

use crate::common::pool;

const SOURCE: &str = r#"import { money, unusedImport } from "units/inc_format.js";
import * as all from './inc_all.js';

/**
 * Shows a product.
 * @param vars what the page hands in
 */
export async function main(vars, { id, key = "x" } = {}, ...rest) {
  const product = shop.products.get(id);
  let unusedLocal = 1;
  return money(product.price) + undeclaredName + typeof onlyAsked + alsoUndeclared + all.x + key + rest;
}

// Adds one.
export const CmdAdd = (number, by = 1) => number + by + vars(number);

function vars(_unused) {
  return shop.select("select 1") + Math.max(1) + shop?.t("key");
}

export { vars as helper };
export default function () {}
"#;

fn named(mentions: &[Mention]) -> Vec<(&str, u32, u32)> {
    mentions.iter().map(|mention| (mention.name.as_str(), mention.line, mention.column)).collect()
}

#[test]
fn functions_have_their_parameters_and_comments() {
    let analysis = pool(1).analyse("units/test.js", SOURCE).expect("it compiles");
    let names: Vec<&str> = analysis.functions.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["main", "CmdAdd", "helper", "default"]);
    let main = &analysis.functions[0];
    assert!(main.is_async);
    assert_eq!((main.line, main.column), (8, 1));
    assert_eq!(main.comment, "Shows a product.\n@param vars what the page hands in");
    let parameters: Vec<(&str, Option<&str>)> = main
        .parameters
        .iter()
        .map(|parameter| (parameter.name.as_str(), parameter.default.as_deref()))
        .collect();
    assert_eq!(parameters, [("vars", None), (r#"{ id, key = "x" }"#, Some("{}")), ("...rest", None)]);
    let add = &analysis.functions[1];
    assert_eq!(add.comment, "Adds one.");
    assert_eq!(add.parameters[1].default.as_deref(), Some("1"));
    assert_eq!(analysis.functions[2].line, 17);
}

#[test]
fn imports_and_host_calls_are_told() {
    let analysis = pool(1).analyse("units/test.js", SOURCE).expect("it compiles");
    let imports: Vec<_> = analysis
        .imports
        .iter()
        .map(|import| (import.module.as_str(), named(&import.names), import.line, import.column))
        .collect();
    assert_eq!(
        imports,
        [
            ("units/inc_format.js", vec![("money", 1, 10), ("unusedImport", 1, 17)], 1, 37),
            ("./inc_all.js", vec![("*", 2, 13)], 2, 22),
        ]
    );
    assert_eq!(named(&analysis.host), [("products.get", 9, 19), ("select", 18, 10), ("t", 18, 50)]);
}

#[test]
fn undeclared_and_unused_names_are_told_with_their_place() {
    let analysis = pool(1).analyse("units/test.js", SOURCE).expect("it compiles");
    assert_eq!(named(&analysis.undeclared), [("undeclaredName", 11, 33), ("alsoUndeclared", 11, 69)]);
    assert_eq!(named(&analysis.unused), [("unusedImport", 1, 17), ("unusedLocal", 10, 7)]);
}

#[test]
fn a_source_with_a_mistake_is_not_analysed() {
    let error = pool(1).analyse("units/test.js", "export function main( {").expect_err("a mistake");
    assert!(error.to_string().starts_with("units/test.js:1:"), "{error}");
}
