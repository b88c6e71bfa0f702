// A product: its variants, prices, stock, reviews, and the same for search engines.
import { address, base, show, summary, withoutEmpty } from "units/inc_page.js";
import { crumbs } from "units/inc_seo.js";

export function main({ id }) {
  const product = shop.products.get(id);
  if (!product) {
    shop.status(404);
    return shop.unit("not_found");
  }
  const variant = current(product, shop.request.query.v);
  const reviews = shop.reviews.of(id, { per: 20 });
  const description = product.seo_description ?? summary(product.text);
  return show("main.htm", {
    path: product.url,
    urls: product.urls,
    is_hidden: product.state !== "kShown",
    description,
    product,
    variant,
    options: choices(product, variant),
    cut: variant?.price?.compare_at ? Math.round((1 - variant.price.amount / variant.price.compare_at) * 100) : 0,
    reviews,
    spread: spread(id, product.rating_count),
    promises: ["delivery", "returns"].map((key) => shop.pages.get(key)).filter((page) => page && page.url)
      .map((page) => ({ key: page.key, name: page.name, url: page.url, text: summary(page.text, 110) })),
    links: alike(product),
    kind: "product",
    shot: product.images[0] ?? null,
    ld: withoutEmpty(structured(product, reviews, description)),
    crumbs_ld: crumbs([...product.path, { name: product.name, url: product.url }]),
  });
}

/** The variant of the address, else the first that can be bought, else the first. */
function current(product, wanted) {
  const variants = product.variants;
  return variants.find((variant) => String(variant.id) === wanted)
    ?? variants.find((variant) => variant.available && variant.price)
    ?? variants[0];
}

/** What the owner named beside the product, filled up with what is bought most of its category. */
function alike(product) {
  const links = shop.products.links(product.id, "kAnalog");
  const category = product.path[product.path.length - 1];
  if (links.length >= 4 || !category) {
    return links;
  }
  const known = new Set([product.id, ...links.map((link) => link.id)]);
  const others = shop.products.list({ category: category.id, per: 5, total: false }).items.filter((other) => !known.has(other.id));
  return [...links, ...others].slice(0, 4);
}

/** How many reviews have each number of stars, five first. */
function spread(id, total) {
  if (!total) {
    return [];
  }
  const counts = shop.reviews.stars(id);
  return [5, 4, 3, 2, 1].map((stars) => ({ stars, count: counts[stars - 1], share: (counts[stars - 1] * 100) / total }));
}

/** The options with an address for each value: the variant that has it and else most of what is chosen now. */
function choices(product, chosen) {
  return product.options.map((option) => ({
    name: option.name,
    values: option.values.map((value) => {
      const fits = product.variants.filter((variant) => variant.values.includes(value.id));
      const common = (variant) => variant.values.filter((one) => chosen.values.includes(one)).length;
      const best = fits.sort((a, b) => common(b) - common(a) || b.available - a.available)[0];
      return {
        name: value.name,
        here: chosen.values.includes(value.id),
        available: Boolean(best?.available),
        url: best ? address(product.url, { v: best.id }) : null,
      };
    }),
  }));
}

/** The product as search engines read it: what the page shows, and nothing else. */
function structured(product, reviews, description) {
  const priced = product.variants.filter((variant) => variant.price && variant.price.amount > 0);
  const whole = {
    "@context": "https://schema.org",
    "@type": priced.length > 1 ? "ProductGroup" : "Product",
    name: product.name,
    description: description || undefined,
    url: base() + product.url,
    image: product.images.length ? product.images.map((image) => base() + image.url) : undefined,
    brand: product.brand ? { "@type": "Brand", name: product.brand.name } : undefined,
  };
  if (product.rating_count > 0) {
    whole.aggregateRating = {
      "@type": "AggregateRating",
      ratingValue: (product.rating_sum / product.rating_count).toFixed(1),
      reviewCount: product.rating_count,
    };
    // Of whoever erased themselves no name is left, and search engines take no review of nobody.
    whole.review = reviews.items.filter((review) => review.name).slice(0, 5).map((review) => ({
      "@type": "Review",
      author: { "@type": "Person", name: review.name },
      datePublished: review.created.slice(0, 10),
      reviewBody: review.text || undefined,
      reviewRating: { "@type": "Rating", ratingValue: review.rating, bestRating: 5, worstRating: 1 },
    }));
  }
  const one = (variant) => ({
    sku: variant.sku ?? undefined,
    gtin: variant.gtin ?? undefined,
    mpn: variant.mpn ?? undefined,
    offers: {
      "@type": "Offer",
      url: base() + address(product.url, { v: priced.length > 1 ? variant.id : "" }),
      price: variant.price.decimal,
      priceCurrency: variant.price.currency,
      availability: "https://schema.org/" + (variant.available ? "InStock" : "OutOfStock"),
    },
  });
  if (priced.length === 1) {
    return Object.assign(whole, one(priced[0]));
  }
  if (priced.length > 1) {
    whole.productGroupID = String(product.id);
    whole.hasVariant = priced.map((variant) => ({ "@type": "Product", name: variant.title, image: whole.image, ...one(variant) }));
  }
  return priced.length ? whole : null;
}
