//! What visitors type: trimmed, bounded, without control characters, checked by the rules of the country.

use db::customers::Address;
use db::places::Country;
use serde_json::{Map, Value as Json, json};

use super::Problem;

/// Longest text of one line.
const LONGEST: usize = 200;
/// Longest comment.
const LONGEST_COMMENT: usize = 2000;
/// Longest e-mail address there is.
const LONGEST_EMAIL: usize = 254;

/// The field of a kept address that says that somebody comes for the goods instead.
const FETCHES: &str = "fetches";

/// The fields of a form, by name.
pub(crate) type Fields = Map<String, Json>;

/// A field of one line, as it is kept.
pub(crate) fn line(fields: &Fields, name: &str) -> String {
    let text = fields.get(name).and_then(Json::as_str).unwrap_or_default();
    clean(text, LONGEST, false)
}

/// A field of several lines.
pub(crate) fn comment(fields: &Fields, name: &str) -> String {
    clean(fields.get(name).and_then(Json::as_str).unwrap_or_default(), LONGEST_COMMENT, true)
}

fn clean(text: &str, longest: usize, with_lines: bool) -> String {
    let kept = text.chars().map(|letter| if letter == '\t' { ' ' } else { letter });
    let kept = kept.filter(|letter| !letter.is_control() || (with_lines && *letter == '\n'));
    let text: String = kept.take(longest).collect();
    text.trim().to_owned()
}

/// An e-mail address, if it is one that mail can be sent to.
pub(crate) fn email(text: &str) -> Option<String> {
    let text = text.trim();
    let (name, host) = text.rsplit_once('@')?;
    let is_odd =
        |letter: char| letter.is_whitespace() || letter.is_control() || "<>()[],;:\\\"@".contains(letter);
    let is_right = !name.is_empty()
        && text.len() <= LONGEST_EMAIL
        && !name.contains(is_odd)
        && !host.contains(is_odd)
        && host.contains('.')
        && host.split('.').all(|part| !part.is_empty() && part.len() <= 63);
    is_right.then(|| text.to_owned())
}

/// An address out of a form, with what is wrong with it.
pub(crate) fn address(fields: &Fields, countries: &[Country]) -> (Address, Vec<Problem>) {
    read_address(fields, countries, |name| name)
}

/// The address of the invoice out of a form whose fields begin with `invoice_`.
pub(crate) fn invoice_address(fields: &Fields, countries: &[Country]) -> (Address, Vec<Problem>) {
    read_address(fields, countries, |name| match name {
        "name" => "invoice_name",
        "company" => "invoice_company",
        "country" => "invoice_country",
        "region" => "invoice_region",
        "city" => "invoice_city",
        "postcode" => "invoice_postcode",
        "line1" => "invoice_line1",
        "line2" => "invoice_line2",
        "phone" => "invoice_phone",
        _ => "invoice_tax_number",
    })
}

/// An address out of fields that are named by `named`.
fn read_address(
    fields: &Fields,
    countries: &[Country],
    named: fn(&'static str) -> &'static str,
) -> (Address, Vec<Problem>) {
    let line = |fields: &Fields, name: &'static str| line(fields, named(name));
    let address = Address {
        id: 0,
        name: line(fields, "name"),
        company: line(fields, "company"),
        country: line(fields, "country").to_uppercase(),
        region: line(fields, "region"),
        city: line(fields, "city"),
        postcode: line(fields, "postcode"),
        line1: line(fields, "line1"),
        line2: line(fields, "line2"),
        phone: line(fields, "phone"),
        tax_number: line(fields, "tax_number"),
    };
    let mut problems = Vec::new();
    let Some(country) = countries.iter().find(|country| country.code == address.country) else {
        problems.push(Problem::field(named("country"), "country"));
        return (address, problems);
    };
    let needed = country.required.split(',').map(str::trim);
    let values: [(&'static str, &str); 8] = [
        ("name", &address.name),
        ("company", &address.company),
        ("region", &address.region),
        ("city", &address.city),
        ("postcode", &address.postcode),
        ("line1", &address.line1),
        ("line2", &address.line2),
        ("phone", &address.phone),
    ];
    for field in needed {
        if let Some((name, _)) = values.iter().find(|(name, value)| *name == field && value.is_empty()) {
            problems.push(Problem::field(named(name), "required"));
        }
    }
    (address, problems)
}

/// An address that says no more than who and in which country.
pub(crate) fn only_name(name: String, country: String) -> Address {
    Address {
        id: 0,
        name,
        company: String::new(),
        country,
        region: String::new(),
        city: String::new(),
        postcode: String::new(),
        line1: String::new(),
        line2: String::new(),
        phone: String::new(),
        tax_number: String::new(),
    }
}

/// An address as a cart keeps it.
pub(crate) fn address_json(address: &Address) -> Json {
    json!({
        "name": address.name,
        "company": address.company,
        "country": address.country,
        "region": address.region,
        "city": address.city,
        "postcode": address.postcode,
        "line1": address.line1,
        "line2": address.line2,
        "phone": address.phone,
        "tax_number": address.tax_number,
    })
}

/// Who comes for the goods, as a cart keeps it: no address but the country where they lie, which taxes follow.
pub(crate) fn fetcher_json(address: &Address) -> Json {
    let mut kept = address_json(address);
    if let Json::Object(kept) = &mut kept {
        kept.insert(FETCHES.to_owned(), true.into());
    }
    kept
}

/// Whether what a cart keeps is no address, but who comes for the goods.
pub(crate) fn is_fetcher(text: &str) -> bool {
    let kept: Fields = serde_json::from_str(text).unwrap_or_default();
    kept.get(FETCHES) == Some(&Json::Bool(true))
}

/// The address that a cart keeps.
pub(crate) fn address_of(text: &str) -> Option<Address> {
    let kept: Fields = serde_json::from_str(text).ok()?;
    let of = |name: &str| kept.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    Some(Address {
        id: 0,
        name: of("name"),
        company: of("company"),
        country: of("country"),
        region: of("region"),
        city: of("city"),
        postcode: of("postcode"),
        line1: of("line1"),
        line2: of("line2"),
        phone: of("phone"),
        tax_number: of("tax_number"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_that_mail_goes_to_are_taken() {
        for good in ["a@b.co", " Anna.O'Neill+x@пример.рф ", "x@a-b.example"] {
            assert_eq!(email(good).as_deref(), Some(good.trim()), "{good}");
        }
        for bad in [
            "",
            "a",
            "a@b",
            "@b.co",
            "a@.co",
            "a@b.",
            "a b@c.de",
            "a@b.co\nbcc: x@y.de",
            "<a@b.co>",
            "a@b@c.de",
            "a,b@c.de",
        ] {
            assert_eq!(email(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_country_says_which_fields_must_be_there() {
        let country = Country {
            code: "DE".to_owned(),
            name: "Germany".to_owned(),
            address_format: String::new(),
            required: "name,line1,postcode,city".to_owned(),
            ships: true,
        };
        let form = |text: &str| serde_json::from_str::<Fields>(text).unwrap();
        let (_, problems) = address(
            &form(r#"{"country": "de", "name": "A\u0000\r\nB", "city": " "}"#),
            std::slice::from_ref(&country),
        );
        let fields: Vec<_> = problems.iter().map(|problem| problem.field.unwrap()).collect();
        assert_eq!(fields, ["line1", "postcode", "city"]);
        let (read, _) = address(&form(r#"{"country": "de", "name": "A\u0000\r\nB"}"#), &[country]);
        assert_eq!((read.name.as_str(), read.country.as_str()), ("AB", "DE"));
        assert_eq!(address_of(&address_json(&read).to_string()), Some(read));
        assert_eq!(address(&form("{}"), &[]).1, [Problem::field("country", "country")]);
    }
}
