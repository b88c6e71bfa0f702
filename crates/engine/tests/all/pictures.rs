//! Files of rows over HTTP: pictures in sizes, what is handed out and how, and what is not.

use std::fs;
use std::io::Cursor;

use db::{files, rows};
use engine::media::{self, AddError, NewFile};
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};

use crate::client::{Answer, get};
use crate::goods::{fill, lay_files};
use crate::test_store::{NOON, TestStore, on_both};

fn photo(width: u32, height: u32) -> Vec<u8> {
    let image = RgbImage::from_fn(width, height, |x, y| Rgb([(x % 256) as u8, (y % 256) as u8, 90]));
    let mut out = Cursor::new(Vec::new());
    DynamicImage::ImageRgb8(image).write_to(&mut out, ImageFormat::Jpeg).unwrap();
    out.into_inner()
}

/// Adds a file to a row; answers its address.
fn add(store: &TestStore, (entity, elem_id): (&str, i64), name: &str, bytes: &[u8]) -> String {
    let new = NewFile { entity, elem_id, kind: "kImage", name, alt: "A jacket", bytes };
    let root = store.root().to_owned();
    let row = store.db.write(|tx| {
        media::add(tx, &root, &new, NOON.parse().unwrap()).map_err(|error| match error {
            AddError::Db(error) => error,
            other => panic!("{other}"),
        })?;
        Ok(files::of(tx, entity, elem_id)?.pop().unwrap())
    });
    format!("/files/{}", row.unwrap().stored_name)
}

fn shape(answer: &Answer) -> (u16, Option<&str>, Option<(u32, u32)>) {
    let size = image::load_from_memory(&answer.body).ok().map(|image| (image.width(), image.height()));
    (answer.status, answer.header("content-type"), size)
}

on_both! {
    async fn a_picture_comes_in_its_sizes_and_in_what_the_browser_takes(store: TestStore) {
        lay_files(store);
        let shop = fill(store);
        let url = add(store, ("products", shop.jacket), "IMG 1.jpg", &photo(1000, 500));
        let whole = get(store, &url, "").await;
        assert_eq!(shape(&whole), (200, Some("image/jpeg"), Some((1000, 500))));
        assert_eq!(whole.header("cache-control"), Some("public, max-age=31536000, immutable"));
        let small = get(store, &format!("{url}?w=320"), "").await;
        assert_eq!(shape(&small), (200, Some("image/jpeg"), Some((320, 160))));
        assert_eq!(small.header("vary"), Some("Accept"));
        let webp = get(store, &format!("{url}?w=320"), "accept: image/avif,image/webp,*/*;q=0.8\r\n").await;
        assert_eq!(shape(&webp), (200, Some("image/webp"), Some((320, 160))));
        assert!(webp.header("etag") != small.header("etag"));
        let square = get(store, &format!("{url}?w=160&h=160&fit=cover"), "").await;
        assert_eq!(shape(&square), (200, Some("image/jpeg"), Some((160, 160))));
        // It is never made larger than it is, nor in a width that there is not.
        assert_eq!(shape(&get(store, &format!("{url}?w=1920"), "").await).2, Some((1000, 500)));
        for wrong in ["w=321", "w=320&h=1", "w=99999", "w=320&h=320&fit=stretch"] {
            assert_eq!(get(store, &format!("{url}?{wrong}"), "").await.status, 404, "{wrong}");
        }
        let tag = format!("if-none-match: {}\r\n", small.header("etag").unwrap());
        let again = get(store, &format!("{url}?w=320"), &tag).await;
        assert_eq!((again.status, again.body.len()), (304, 0));
        // The second time nothing is made: the original may be gone.
        fs::remove_file(store.root().join(&url[1..])).unwrap();
        assert_eq!(get(store, &format!("{url}?w=320"), "").await.body, small.body);
        assert_eq!(get(store, &format!("{url}?w=640"), "").await.status, 404);
    }

    async fn a_drawing_comes_as_pixels_and_alone_only_to_be_saved(store: TestStore) {
        lay_files(store);
        let shop = fill(store);
        let drawing = b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 40 20'><rect width='40' height='20' fill='#c00'/></svg>";
        let url = add(store, ("products", shop.lamp), "Лампа.svg", drawing);
        let whole = get(store, &url, "").await;
        assert_eq!((whole.status, whole.header("content-type")), (200, Some("image/svg+xml")));
        assert!(whole.header("content-disposition").unwrap().starts_with("attachment;"));
        assert!(whole.header("content-security-policy").unwrap().ends_with("sandbox"));
        let drawn = get(store, &format!("{url}?w=640"), "accept: image/webp\r\n").await;
        assert_eq!(shape(&drawn), (200, Some("image/webp"), Some((640, 320))));
        let page = get(store, "/desk-lamp", "").await.text();
        for part in [&format!("src=\"{url}?w=960\""), &format!("{url}?w=1920 1920w"), "width=\"40\" height=\"20\"", "alt=\"A jacket\""] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }

    async fn what_is_nobodys_business_is_not_there(store: TestStore) {
        lay_files(store);
        let shop = fill(store);
        let invoice = add(store, ("orders", 1), "invoice.txt", b"Ann Smith, 5 Main Street");
        assert_eq!(get(store, &invoice, "").await.status, 404);
        fs::write(store.root().join("files/secret.txt"), "s").unwrap();
        let url = add(store, ("products", shop.lamp), "a.jpg", &photo(20, 20));
        for path in ["/files/secret.txt", "/files/../config.json", "/files/%2e%2e/config.json", "/files/products", "/files/", "/files/a//b"] {
            assert_eq!(get(store, path, "").await.status, 404, "{path}");
        }
        #[cfg(unix)]
        {
            let place = store.root().join(&url[1..]);
            fs::remove_file(&place).unwrap();
            std::os::unix::fs::symlink(store.root().join("config.json"), &place).unwrap();
            assert_eq!(get(store, &url, "").await.status, 404);
        }
    }

    async fn a_row_that_lies_about_its_file_hands_out_nothing_that_acts(store: TestStore) {
        lay_files(store);
        let shop = fill(store);
        let url = add(store, ("products", shop.lamp), "a.jpg", &photo(20, 20));
        let file = store.db.read(|tx| files::of(tx, "products", shop.lamp)).unwrap().remove(0);
        let now = NOON.parse().unwrap();
        store.db.write(|tx| rows::update(tx, "files", file.id, None, &[("mime", "text/html".into())], now)).unwrap();
        assert_eq!(get(store, &url, "").await.status, 404);
        fs::write(store.root().join(&url[1..]), "<script>x()</script>").unwrap();
        store.db.write(|tx| rows::update(tx, "files", file.id, None, &[("mime", "image/jpeg".into())], now)).unwrap();
        let answer = get(store, &url, "").await;
        assert_eq!((answer.header("content-type"), answer.header("x-content-type-options")), (Some("image/jpeg"), Some("nosniff")));
        assert_eq!(get(store, &format!("{url}?w=160"), "").await.status, 500);
    }

    async fn fifty_who_ask_at_once_get_the_same(store: TestStore) {
        let shop = fill(store);
        let url = add(store, ("products", shop.lamp), "a.jpg", &photo(1200, 800)) + "?w=640";
        let store = &*store;
        let asked = (0..50).map(|_| get(store, &url, "accept: image/webp\r\n"));
        let answers = futures_util::future::join_all(asked).await;
        for answer in &answers {
            assert_eq!((answer.status, &answer.body), (200, &answers[0].body));
        }
        let folder = fs::read_dir(store.root().join("core/cache/images")).unwrap().next().unwrap().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
