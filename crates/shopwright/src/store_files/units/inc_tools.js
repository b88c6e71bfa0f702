// What the store's own tools have in common: lists page by page, a no that names the next step, fields that were named.

/** At most so many rows. */
export function most(limit, largest = 1000) {
  return Math.min(Math.max(Number(limit), 1), largest);
}

/** A table of at most so many rows; the statement asked for one more, which says that there are more. */
export function page(table, rows, count, next = "after") {
  const more = rows.length > count;
  const shown = rows.slice(0, count);
  const last = shown[shown.length - 1]?.id ?? null;
  return {
    result: true,
    message: `${shown.length} ${table.replaceAll("_", " ")}.` + (more ? ` There are more: call again with ${next} ${last}.` : ""),
    detail: { count: shown.length, last, more },
    tables: { [table]: shown },
  };
}

/** A no, with the next step in its message. */
export function no(message, detail = {}) {
  return { result: false, message, detail };
}

/** What would be done, without `apply`. */
export function only(message, detail = {}, tables = {}) {
  return {
    result: true,
    message: `${message}; nothing was done. Show it to the person, then call with apply true.`,
    detail: { ...detail, applied: false },
    tables,
  };
}

/** What a call of `shop.staff` answered, as the answer of a command. */
export function done({ problem, ...detail }, message, next = "") {
  return problem ? no(`Nothing was changed: ${problem}. ${next}`.trim(), detail) : { result: true, message, detail };
}

/** The fields that the call named. */
export function named(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The same, with 0 and "" for what shall be taken away. */
export function namedOrGone(fields) {
  return Object.fromEntries(Object.entries(named(fields)).map(([name, value]) => [name, value === 0 || value === "" ? null : value]));
}

/** A part of a statement that is true for names with all these words; adds their values to `params`. */
export function withWords(column, words, params) {
  const parts = words.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 8).map((word, at) => {
    params[`word${at}`] = `%${word.replace(/[%_]/g, "")}%`;
    return `${column} like :word${at}`;
  });
  return parts.length ? parts.join(" and ") : "1 = 1";
}
