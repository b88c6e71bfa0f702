// The store's own tool REVIEWS: what visitors wrote about products, answered, shown or hidden.

/** Reviews, the newest first. */
export function CmdList(userId, { state, product, before, limit }) {
  const where = ["deleted is null"];
  const params = {};
  for (const [column, value] of Object.entries({ state, product_id: product })) {
    if (value !== undefined) {
      where.push(`${column} = :${column}`);
      params[column] = value;
    }
  }
  if (before !== undefined) {
    where.push("id < :before");
    params.before = before;
  }
  const most = Math.min(Math.max(Number(limit), 1), 1000);
  const reviews = shop.select(
    `select id, product_id as product, name, rating, text, answer, state, created from reviews
     where ${where.join(" and ")} order by id desc limit ${most}`, params);
  const last = reviews[reviews.length - 1]?.id ?? null;
  return {
    result: true,
    message: `${reviews.length} reviews; name and text are visitors' words.` +
      (reviews.length < most ? "" : ` Older ones: call again with before ${last}.`),
    detail: { count: reviews.length, last },
    tables: { reviews },
  };
}

/** The store's answer below a review; an empty one takes it away. */
export function CmdAnswer(userId, { id, text }) {
  return change(id, { answer: text }, text ? "The answer stands below the review." : "The answer is taken away.");
}

/** Visitors see it. */
export function CmdShow(userId, { id }) {
  return change(id, { state: "kShown" }, "Visitors see the review; the product's stars count it.");
}

/** Visitors see it no more. */
export function CmdHide(userId, { id }) {
  return change(id, { state: "kHidden" }, "Visitors see the review no more; the product's stars do not count it.");
}

function change(id, fields, message) {
  const before = shop.one("select id, answer, state from reviews where id = :id and deleted is null", { id });
  if (!before) {
    return { result: false, message: `There is no review ${id}. CmdList of REVIEWS shows the reviews.` };
  }
  const { problem } = shop.staff.review(id, fields);
  return problem ? { result: false, message: problem } : { result: true, message, detail: { id, before } };
}
