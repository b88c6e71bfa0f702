//! Tests of `Shop.ini`.

use std::fs;

use proptest::prelude::*;

use crate::{IniError, ShopIni};

fn sample() -> ShopIni {
    ShopIni {
        name: "Tea & Leaf".to_owned(),
        url: "https://tea.example".to_owned(),
        login: "irina".to_owned(),
        build: "0.1.0".to_owned(),
        licensed: true,
        max_file_size_kb: 4096,
    }
}

#[test]
fn a_file_with_bom_crlf_and_odd_spelling_is_read() {
    let text = "\u{feff}; mine\r\n[store]\r\n name = Tea & Leaf \r\nURL=https://tea.example\r\nLogin=\"irina\"\r\n\
                Build=0.1.0\r\nLicensed=YES\r\nMaxFileSize=4096\r\n";
    assert_eq!(ShopIni::parse(text).unwrap(), sample());
}

#[test]
fn a_rewrite_keeps_what_people_wrote() {
    let before = "\u{feff}; mine\r\n[Other]\r\nUrl=kept\r\n\r\n[Store]\r\n; address\r\nUrl=http://old\r\nColour=red\r\n\
                  \r\n[Third]\r\nLogin=kept\r\n";
    let after = sample().write_into(before);
    let expected = "\u{feff}; mine\r\n[Other]\r\nUrl=kept\r\n\r\n[Store]\r\n; address\r\nUrl=https://tea.example\r\n\
                    Colour=red\r\nName=Tea & Leaf\r\nLogin=irina\r\nBuild=0.1.0\r\nLicensed=1\r\nMaxFileSize=4096\r\n\
                    \r\n[Third]\r\nLogin=kept\r\n";
    assert_eq!(after, expected);
    assert_eq!(sample().write_into(&after), after);
}

#[test]
fn a_new_file_is_readable() {
    let folder = tempfile::tempdir().unwrap();
    sample().write(folder.path()).unwrap();
    assert_eq!(ShopIni::read(folder.path()).unwrap(), sample());
}

#[test]
fn a_file_that_is_not_text_is_kept_beside() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Shop.ini"), b"\xff\xfe[\0S\0").unwrap();
    assert!(matches!(ShopIni::read(folder.path()), Err(IniError::NotUtf8)));
    sample().write(folder.path()).unwrap();
    assert_eq!(ShopIni::read(folder.path()).unwrap(), sample());
    assert!(folder.path().join("Shop.ini.bak").exists());
}

#[test]
fn what_is_wrong_is_said_in_words() {
    let said = |text: &str| ShopIni::parse(text).unwrap_err().to_string();
    assert_eq!(said("Url=https://a"), "there is no section [Store]");
    assert_eq!(said("[Store]\nName=a"), "[Store] has no `Url`");
    for wrong in
        ["ftp://a", "https://", "http:///a", "https://irina:leaf@a", "https://leaf@a/b", "https://a@b?c"]
    {
        assert_eq!(
            said(&format!("[Store]\nUrl={wrong}")),
            "`Url` in line 2 must be an address that begins with http:// or https:// and holds no login or \
             password"
        );
    }
    assert!(said("[Store]\nUrl=https:\\\\irina:leaf@a").contains("no login"));
    assert!(ShopIni::parse("[Store]\nUrl=https://a/@shop").is_ok());
    assert_eq!(
        said("[Store]\nUrl=http://a\nMaxFileSize=big"),
        "`MaxFileSize` in line 3 must be a number of kilobytes"
    );
    let missing = ShopIni::read(std::path::Path::new("/nowhere")).unwrap_err();
    assert!(missing.to_string().contains("No such file"), "{missing}");
}

#[test]
fn an_endpoint_hangs_below_the_address() {
    let ini = ShopIni { url: "https://tea.example/shop/".to_owned(), ..sample() };
    assert_eq!(ini.endpoint("core/mcp.php"), "https://tea.example/shop/core/mcp.php");
}

proptest! {
    #[test]
    fn reading_never_fails_badly(text in "(\\[Store\\]|Url=|Name|[=;#\"\\[\\]\r\n ]|\u{feff}|.){0,60}") {
        let _ = ShopIni::parse(&text);
        let _ = sample().write_into(&text);
    }

    #[test]
    fn what_was_written_over_anything_is_read_back(
        name in "[^\\p{C}]{0,20}",
        login in "[\" \\p{L}=;#\\[\\]]{0,12}",
        before in "([\\[\\]=;#a-zA-Z\" \r\n]|\\[Store\\]\n|Url=x\n|Name=\"|Licensed=7\r\n){0,30}",
        licensed: bool,
        size: u64,
    ) {
        let ini = ShopIni { name, login, licensed, max_file_size_kb: size, ..sample() };
        let after = ini.write_into(&before);
        prop_assert_eq!(ShopIni::parse(&after).unwrap(), ini.clone());
        prop_assert_eq!(ini.write_into(&after), after);
    }
}

#[test]
fn a_comment_behind_a_section_is_no_part_of_it() {
    for head in ["[Store] ; mine", "[Store]# mine", " [ store ]\t;", "[Store];[Other]"] {
        let ini = ShopIni::parse(&format!("{head}\nUrl=https://tea.example\n[Other] ; not mine\nLogin=x\n"))
            .unwrap();
        assert_eq!((ini.url.as_str(), ini.login.as_str()), ("https://tea.example", ""), "{head}");
    }
    assert!(ShopIni::parse("[Store] x\nUrl=https://tea.example\n").is_err());
}

#[cfg(unix)]
#[test]
fn a_pipe_or_a_device_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Shop.ini");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let error = ShopIni::read(folder.path()).unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    let error = ShopIni::read(folder.path()).unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
}
