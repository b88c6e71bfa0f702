// The way to the cart in the head of every page, and how many things lie in it.

const WORDS = ["cart", "session", "__Host-cart", "__Host-session"];

export function main({ url }) {
  // Who brings neither cookie has no cart: for them the page is kept as it is for everybody.
  const mayHave = WORDS.some((name) => name in shop.cookies);
  return shop.render("main.htm", { url, count: mayHave ? shop.cart.count() : 0 });
}
