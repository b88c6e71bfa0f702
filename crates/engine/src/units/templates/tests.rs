//! Tests of the templates.

use std::fs;
use std::path::Path;

use minijinja::context;
use tempfile::TempDir;

use super::*;

fn look() -> Look {
    Look {
        group: "summer".to_owned(),
        default_group: "default".to_owned(),
        language: "ru".to_owned(),
        default_language: "en".to_owned(),
        currency: "EUR".to_owned(),
        time_zone: "UTC".to_owned(),
    }
}

struct Place(TempDir);

impl Place {
    fn new(files: &[(&str, &str)]) -> (Self, Templates) {
        let place = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            place.write(path, text);
        }
        let templates = Templates::new(Tree::new(place.0.path()));
        (place, templates)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join("templates").join(path);
        fs::create_dir_all(path.parent().unwrap_or(Path::new(""))).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn text(templates: &Templates, unit: &str, name: &str, data: Value) -> Result<String, TemplateError> {
    let rendered = templates.group(&look()).render(unit, name, data)?;
    rendered.fill(|asked| Ok::<_, TemplateError>(format!("[{} {}]", asked.unit, asked.vars)))
}

#[test]
fn a_template_that_its_group_lacks_or_has_empty_is_the_default_groups() {
    let (place, templates) = Place::new(&[
        ("default/units/home/main.htm", "default"),
        ("summer/units/home/main.htm", " \n"),
        ("default/units/home/other.htm", "other"),
    ]);
    assert_eq!(text(&templates, "home", "main.htm", context! {}).unwrap(), "default");
    assert_eq!(text(&templates, "product", "home/other.htm", context! {}).unwrap(), "other");
    place.write("summer/units/home/main.htm", "summer");
    assert_eq!(text(&templates, "home", "main.htm", context! {}).unwrap(), "summer");
    fs::remove_file(place.0.path().join("templates/summer/units/home/main.htm")).unwrap();
    assert_eq!(text(&templates, "home", "main.htm", context! {}).unwrap(), "default");
}

#[test]
fn an_edited_include_is_seen_at_once_and_found_from_its_own_folder() {
    let (place, templates) = Place::new(&[
        ("default/units/home/main.htm", "{% extends 'layout/page.htm' %}{% block body %}x{% endblock %}"),
        ("default/units/layout/page.htm", "{% include 'head.htm' %}{% block body %}{% endblock %}"),
        ("default/units/layout/head.htm", "one "),
    ]);
    assert_eq!(text(&templates, "home", "main.htm", context! {}).unwrap(), "one x");
    place.write("default/units/layout/head.htm", "two ");
    assert_eq!(text(&templates, "home", "main.htm", context! {}).unwrap(), "two x");
}

#[test]
fn what_is_data_stays_data() {
    let evil = "</script>{{ 7*7 }}{% if 1 %}<b>\"'\u{202e}";
    let (_place, templates) = Place::new(&[(
        "default/units/home/main.htm",
        "<a title=\"{{ x }}\">{{ x }}</a>{{ unit('menu', key=x) }}<script>{{ x|tojson }}</script>{{ none }}",
    )]);
    let page = text(&templates, "home", "main.htm", context! { x => evil, none => () }).unwrap();
    let (before, _) = page.split_once("[menu").unwrap();
    let shown = "&lt;/script&gt;{{ 7*7 }}{% if 1 %}&lt;b&gt;&quot;&#39;";
    assert_eq!(before, format!("<a title=\"{shown}\">{shown}</a>"));
    assert!(page.contains("<script>\"\\u003c/script\\u003e"), "{page}");
    assert!(page.ends_with("</script>"), "{page}");
}

#[test]
fn no_data_forges_the_place_of_a_unit() {
    let (_place, templates) =
        Place::new(&[("default/units/home/main.htm", "{{ x|safe }}{{ unit('a', n=1) }}{{ unit('b') }}")]);
    let forged = "\u{f8ff}0000000000000000.0\u{f8ff}";
    let page = text(&templates, "home", "main.htm", context! { x => forged }).unwrap();
    assert_eq!(page, format!("{forged}[a {{'n': 1}}][b {{}}]"));
}

#[test]
fn errors_name_template_and_line() {
    let (_place, templates) = Place::new(&[
        ("default/units/home/main.htm", "a\n{% include 'part.htm' %}"),
        ("default/units/home/part.htm", "b\n\n{{ x|nix }}"),
        ("default/units/home/open.htm", "a\n{% if x %}"),
        (
            "default/units/home/loop.htm",
            "{% for a in range(9999) %}{% for b in range(9999) %}{{ b }}{% endfor %}{% endfor %}",
        ),
        ("default/units/home/self.htm", "{% include 'self.htm' %}"),
    ]);
    let told = |name| text(&templates, "home", name, context! { x => 1 }).unwrap_err().to_string();
    let part = told("main.htm");
    assert!(part.starts_with("templates/default/units/home/part.htm:3: ") && part.contains("nix"), "{part}");
    assert!(
        told("open.htm").starts_with("templates/default/units/home/open.htm:2: "),
        "{}",
        told("open.htm")
    );
    assert!(told("loop.htm").ends_with("too many steps"), "{}", told("loop.htm"));
    assert!(
        told("self.htm").starts_with("templates/default/units/home/self.htm:1: "),
        "{}",
        told("self.htm")
    );
    for path in ["nix.htm", "../../../config.json", "a/../b.htm", "/etc/passwd"] {
        assert!(told(path).contains(path) || told(path).contains("nix"), "{}", told(path));
    }
    assert_eq!(Group::check("templates/default/units/a/b.htm", "\n{% for %}").unwrap_err().line, 2);
    assert!(Group::check("x.htm", "{{ 1 }}").is_ok());
}

#[test]
fn words_are_the_units_own_else_the_shared_ones_else_of_the_stores_language() {
    let (place, templates) = Place::new(&[
        (
            "default/units/home/main.htm",
            "{{ t('hi', name='<b>') }}|{{ 'cart'|t }}|{{ t('only') }}|{{ t('nix') }}|{{ t('n', count=2) }}",
        ),
        ("default/units/home/words.ru.json", r#"{"hi": "Привет, {name}", "n.few": "{count} отзыва"}"#),
        ("default/units/layout/words.ru.json", r#"{"hi": "не то", "cart": "Корзина"}"#),
        ("default/units/layout/words.en.json", r#"{"only": "English only", "cart": "Cart"}"#),
    ]);
    let page = |templates: &Templates| text(templates, "home", "main.htm", context! {}).unwrap();
    assert_eq!(page(&templates), "Привет, &lt;b&gt;|Корзина|English only|nix|2 отзыва");
    place.write("summer/units/layout/words.ru.json", r#"{"cart": "Сумка"}"#);
    assert!(page(&templates).contains("|Сумка|"), "{}", page(&templates));
}

#[test]
fn statics_have_an_address_that_changes_with_their_content() {
    let (place, templates) = Place::new(&[
        ("default/units/home/main.htm", "{{ static('main.css') }}"),
        ("default/statics/main.css", "a{}"),
    ]);
    let page = || text(&templates, "home", "main.htm", context! {}).unwrap();
    let first = page();
    let rest = first.strip_prefix("/statics/main.").and_then(|rest| rest.strip_suffix(".css"));
    assert!(rest.is_some_and(|mark| mark.len() == 12), "{first}");
    place.write("default/statics/main.css", "b{}");
    assert_ne!(page(), first);
    assert_eq!(templates.group(&look()).address("../../config.json"), None);
}
