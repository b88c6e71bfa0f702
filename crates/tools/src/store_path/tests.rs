//! Attacks on paths.

use super::StorePath;

/// What each must be refused as.
const OUTSIDE: &[&str] = &[
    "..",
    "../",
    "../config.json",
    "../../etc/passwd",
    "./../../etc/passwd",
    "./.././../etc/passwd",
    "units/..",
    "units/../config.json",
    "units/../../x",
    "units/./a.js",
    "./units/a.js",
    ".",
    "./",
    "units/a.js/..",
    "units/..a/../b.js",
    "templates/default/../../core/store.db",
    "units/.../a.js",
    "/etc/passwd",
    "/",
    "//",
    "//server/share",
    "units//a.js",
    "/units/a.js",
    "units/a.js//",
    "\\etc\\passwd",
    "units\\..\\config.json",
    "..\\config.json",
    "units/..\\..\\config.json",
    "\\\\?\\C:\\x",
    "C:/windows/win.ini",
    "c:units/a.js",
    "units/a.js:stream",
    "units/a.js::$DATA",
    "file:///etc/passwd",
    "http://example.com/a.js",
    "units/a.js\0",
    "units/\0/a.js",
    "units/a.js\n",
    "units/\u{1b}[2J.js",
    "%2e%2e/config.json",
    "units/%2e%2e/%2e%2e/x",
    "..%2fconfig.json",
    "units%2f..%2f..%2fx",
    "%252e%252e/x",
    "..%c0%af..%c0%afetc",
    "%00",
    "units/a.js%00.htm",
    "\u{ff0e}\u{ff0e}/config.json",
    "units\u{ff0f}a.js",
    "units\u{2215}..\u{2215}x",
    "units\u{2044}a.js",
    "\u{2025}/config.json",
    "units/\u{2024}\u{2024}/x",
    "units/con",
    "units/CON.js",
    "units/nul.js",
    "units/aux",
    "units/COM1.js",
    "units/lpt9.js",
    "units/com¹.js",
    "units/prn.tar.js",
    "units/a.js.",
    "units/a.js ",
    " units/a.js",
    "units /a.js",
    "units/ a.js",
    "~/x",
    "~root/x",
    "units/~a.js",
    ".git/config",
    "units/.htaccess",
    ".env",
    "units/.hidden/a.js",
    "units/a*.js",
    "units/?.js",
    "units/<a>.js",
    "units/a|b.js",
    "units/\u{202e}sj.a",
    "units/a\u{200b}.js",
    "\u{feff}units/a.js",
    "units/a\u{fffd}.js",
    "./..//etc/passwd",
    "./../../x",
    "./.././config.json",
];

/// Settings and markers, in every spelling that some disk takes for the same.
const OWN: &[(&str, &str)] = &[
    ("config.json", "config_closed"),
    ("./../config.json", "config_closed"),
    ("CONFIG.JSON", "config_closed"),
    ("Config.Json/x", "config_closed"),
    ("config.json/", "config_closed"),
    ("config.json.bak", "config_closed"),
    ("admin.here", "server_marker"),
    ("Admin.Here", "server_marker"),
    ("shop.lock", "server_marker"),
    ("./../shop.lock", "server_marker"),
    ("shop.lock/x", "server_marker"),
    ("core/store.db", "server_marker"),
    ("CORE/store.db", "server_marker"),
    ("core/versions/ab", "server_marker"),
    ("core/tmp/x", "server_marker"),
    ("core/logs/x", "server_marker"),
];

#[test]
fn no_spelling_leads_outside() {
    assert!(OUTSIDE.len() + OWN.len() >= 60);
    for text in OUTSIDE {
        let refusal = StorePath::parse("path", text).expect_err(text);
        assert_eq!(refusal.name(), "outside_store", "{text:?}");
        assert!(refusal.text().starts_with("ACCESS_DENIED: parameter path points outside"), "{text:?}");
    }
    let long = format!("units/{}.js", "a".repeat(300));
    assert_eq!(StorePath::parse("path", &long).unwrap_err().name(), "outside_store");
}

#[test]
fn settings_and_markers_are_closed_however_they_are_written() {
    for (text, name) in OWN {
        assert_eq!(StorePath::parse("path", text).expect_err(text).name(), *name, "{text}");
    }
}

#[test]
fn the_store_s_own_files_are_named_from_its_root() {
    for (text, path) in [
        ("units/home.js", "units/home.js"),
        ("./../units/home.js", "units/home.js"),
        ("templates/default/units/home/main.htm", "templates/default/units/home/main.htm"),
        ("templates/default/", "templates/default"),
        ("core/log/units.log", "core/log/units.log"),
        (".well-known/security.txt", ".well-known/security.txt"),
        ("files/Фото 1.jpg", "files/Фото 1.jpg"),
        ("concrete/computer.js", "concrete/computer.js"),
    ] {
        assert_eq!(StorePath::parse("path", text).unwrap().as_str(), path);
    }
    assert_eq!(StorePath::parse("path", "").unwrap_err().name(), "missing_parameter");
}

proptest::proptest! {
    #[test]
    fn whatever_is_let_through_stays_below_the_root(text in "(\\.\\.|\\.|/|\\\\|units|core|config.json|a|%2e|:| ){0,9}") {
        if let Ok(path) = StorePath::parse("path", &text) {
            let parts = path.parts();
            proptest::prop_assert!(parts.iter().all(|part| !part.is_empty() && !part.starts_with('.')));
            proptest::prop_assert!(parts[0] != "config.json");
            proptest::prop_assert!(parts[0] != "core" || parts.len() == 1 || parts[1] == "log");
        }
    }
}
