// The departments of the store, with what is in them.

export function main({ depth = 2 }) {
  return shop.render("main.htm", { departments: shop.categories.tree({ depth }) });
}
