// The foot of every page: the owner's menu and the languages.

export function main() {
  return shop.render("main.htm", {
    store: shop.config("name"),
    items: shop.menus.get("footer"),
    homes: shop.pages.homes(),
    language: shop.language,
  });
}
