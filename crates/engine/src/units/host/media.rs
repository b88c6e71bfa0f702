//! `file`, `image`: files of rows, and pictures in a size.

use db::files;
use sandbox::{HostError, Value};

use super::Answer;
use super::arguments::{Arguments, int};
use super::data::too_many;
use crate::media::{Fit, Kind, Size, address, main_address, srcset};
use crate::units::run::Run;
use crate::units::visit::map;

/// The files of a row, in order.
pub(super) fn file(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let (entity, id) = (args.text(0, "entity")?.to_owned(), args.int(1, "id")?);
    if !run.count_query() {
        return Err(too_many());
    }
    match entity.as_str() {
        "products" => run.dependencies().set("files.products", id),
        _ => run.dependencies().table("files"),
    }
    let found = run.units.db.clone().read(|tx| files::of(tx, &entity, id)).map_err(|error| {
        tracing::error!(cause = ?error, "Files of a row cannot be read");
        HostError::new("DATABASE", "the database cannot be used")
    })?;
    Ok(Value::List(found.iter().map(told).collect()))
}

fn told(file: &files::ElementFile) -> Value {
    let is_picture = Kind::of_mime(&file.mime).is_some_and(Kind::is_picture);
    let mut fields = picture(&file.stored_name, &file.mime, file.width, file.height);
    if !is_picture {
        fields = vec![("url".to_owned(), address(&file.stored_name, None).into())];
    }
    let rest = [
        ("id", file.id.into()),
        ("kind", file.kind_key.as_str().into()),
        ("name", file.real_name.as_str().into()),
        ("type", file.mime.as_str().into()),
        ("bytes", file.bytes.into()),
        ("alt", file.alt.as_str().into()),
    ];
    fields.extend(rest.map(|(name, value)| (name.to_owned(), value)));
    Value::Map(fields)
}

/// A picture as pages show it: an address for everybody, addresses to choose from, its shape.
pub(super) fn picture(
    stored_name: &str,
    mime: &str,
    width: Option<i64>,
    height: Option<i64>,
) -> Vec<(String, Value)> {
    let is_drawing = mime == Kind::Svg.mime();
    let pixels = width.and_then(|width| u32::try_from(width).ok());
    let set = pixels.map(|width| srcset(stored_name, width, is_drawing));
    let fields = [
        ("url", main_address(stored_name).into()),
        ("srcset", set.map(Value::from).unwrap_or_default()),
        ("width", width.into()),
        ("height", height.into()),
    ];
    fields.map(|(name, value)| (name.to_owned(), value)).into()
}

/// A picture in a size, with the same at twice the size for dense screens.
pub(super) fn image(_: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let picture = args.value(0);
    let Some(url) = picture.get("url").and_then(Value::as_text) else {
        return Err(args.wrong("`file` is a picture, as `images` of a product or shop.file() tell it"));
    };
    let base = url.split('?').next().unwrap_or_default();
    if !base.starts_with("/files/") {
        return Err(args.wrong("`file` is a picture of this store"));
    }
    let fit = args.text_option(1, "fit")?;
    let width = args.int_option(1, "width")?.unwrap_or(960).to_string();
    let height = args.int_option(1, "height")?.map(|height| height.to_string());
    let Some(size) = Size::of(&width, height.as_deref(), fit) else {
        return Err(args.wrong(
            "widths and heights are 160, 320, 480, 640, 960, 1280 or 1920, and `fit` is `inside` or `cover`",
        ));
    };
    let url = |size: Size| format!("{base}{}", address("", Some(size)).trim_start_matches("/files/"));
    let double = Size::of(
        &(size.width * 2).to_string(),
        size.height.map(|height| (height * 2).to_string()).as_deref(),
        fit,
    );
    let set = double.map(|double| format!("{} 1x, {} 2x", url(size), url(double)));
    let field = |name: &str| picture.get(name).cloned().unwrap_or_default();
    let (width, height) = shown(size, int(&field("width")), int(&field("height")));
    Ok(map([
        ("url", url(size).into()),
        ("srcset", set.map(Value::from).unwrap_or_default()),
        ("width", width.into()),
        ("height", height.into()),
        ("alt", field("alt")),
    ]))
}

/// The pixels that a picture takes on the page.
fn shown(size: Size, width: Option<i64>, height: Option<i64>) -> (Option<i64>, Option<i64>) {
    if let (Fit::Cover, Some(height)) = (size.fit, size.height) {
        return (Some(size.width.into()), Some(height.into()));
    }
    let shape = width
        .zip(height)
        .and_then(|(width, height)| Some((u32::try_from(width).ok()?, u32::try_from(height).ok()?)));
    match shape.map(|shape| size.shown(shape)) {
        Some((width, height)) => (Some(width.into()), Some(height.into())),
        None => (None, None),
    }
}
