// What every whole page has in common: the store's name, its languages, what search engines read.

/** Shows a page: a template of the unit inside the layout. */
export function show(template, page) {
  return shop.render(template, {
    store: { name: shop.config("name"), url: base(), language: shop.config("language") },
    language: shop.language,
    home: home(),
    homes: shop.pages.homes(),
    search: at("search"),
    cart: at("cart"),
    account: at("account"),
    ...page,
    canonical: page.path === undefined ? null : base() + page.path,
  });
}

/** The address of one of the store's own pages, like `search`, in the page's language. */
export function at(page) {
  return home().replace(/\/$/, "") + "/" + page;
}

/** The store's public address, without a slash at its end. */
export function base() {
  return shop.config("url").replace(/\/+$/, "");
}

/** The home page in the page's language. */
export function home() {
  return shop.language === shop.config("language") ? "/" : "/" + shop.language;
}

/** The first words of a text, without markup, for descriptions. */
export function summary(text, most = 160) {
  const words = String(text ?? "").replace(/<[^>]*>/g, " ").replace(/\s+/g, " ").trim();
  if (words.length <= most) {
    return words;
  }
  const cut = words.slice(0, most);
  return cut.slice(0, Math.max(cut.lastIndexOf(" "), most - 30)) + "…";
}

/** An address with fields; empty ones are left out. */
export function address(path, fields) {
  const parts = [];
  for (const [name, value] of Object.entries(fields)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "") {
        parts.push(encodeURIComponent(name) + "=" + encodeURIComponent(one));
      }
    }
  }
  return parts.length ? path + "?" + parts.join("&") : path;
}

/** Data without the fields that are not set. */
export function withoutEmpty(data) {
  return JSON.parse(JSON.stringify(data));
}

/** Whether a form was filled in by a program: its hidden field is not empty. */
export function isTrap(post) {
  return Boolean(post.website);
}

/** A field of a form, without blanks around it. */
export function field(post, name) {
  return typeof post[name] === "string" ? post[name].trim() : "";
}

/** The numbers of pages to show; 0 is a gap. */
export function numbers(page, pages) {
  const shown = [];
  for (let number = 1; number <= pages; number++) {
    if (number === 1 || number === pages || Math.abs(number - page) <= 2) {
      if (shown.length && number - shown[shown.length - 1] > 1) {
        shown.push(0);
      }
      shown.push(number);
    }
  }
  return shown;
}
