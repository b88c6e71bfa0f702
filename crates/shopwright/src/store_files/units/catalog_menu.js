// The departments of the store with what is in them, and the other pages of the owner's main menu.

export function main({ depth = 2, part = "bar" }) {
  const departments = shop.categories.tree({ depth });
  const known = new Set(departments.map((department) => department.url));
  return shop.render("main.htm", {
    part,
    departments,
    items: shop.menus.get("main").filter((item) => !known.has(item.url)).slice(0, 5),
  });
}
