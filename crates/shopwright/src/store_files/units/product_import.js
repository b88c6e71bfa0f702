// The store's own tool PRODUCT_IMPORT: rows of a supplier's list become products that nobody sees yet, all or nothing.

/** Without `apply` it only says what would come of the rows. */
export function CmdImport(userId, { rows, jumps, apply }) {
  const answer = shop.staff.import_products(rows, { apply, jumps });
  if (answer.problem) {
    return { result: false, message: `Nothing was taken: ${answer.problem}.` };
  }
  const { problems, products, problem_count: wrong, jumps: jumping, jump_count: leaps, problem, ...counts } = answer;
  const detail = { ...counts, problems: wrong, jumps: leaps };
  if (wrong) {
    const [first] = problems;
    return {
      result: false,
      message: `Nothing was taken: ${wrong} mistakes, the first in row ${first.row}, ${first.column}: [${first.value}] ${first.why}. ` +
        "The table problems has them all; mend the rows and call again.",
      detail, tables: { problems },
    };
  }
  const said = `${counts.new} new products, ${counts.changed} changed, ${counts.same} as they were` +
    (counts.keyless ? `, ${counts.keyless} rows left out because they name no product, path, external_id or sku` : "");
  if (leaps > jumps) {
    const [first] = jumping;
    return {
      result: !apply,
      message: `${said}; nothing was taken: ${leaps} prices change by more than half, the first in row ${first.row}, ${first.sku}: ` +
        `${first.before} becomes ${first.after}. If they are meant, show them to the person and call with jumps ${leaps} and apply true.`,
      detail, tables: { products, jumps: jumping },
    };
  }
  return {
    result: true,
    message: apply ? `${said}. New ones are drafts: CmdRestore of PRODUCTS shows them to visitors.`
      : `${said}: so it would be, and nothing was taken. Show it to the person, then call with apply true.`,
    detail, tables: { products },
  };
}
