// The store's own tool CURRENCIES: currencies and the rates between them. Digits of a currency are fixed once it is used.
import { named, no } from "units/inc_tools.js";

/** Currencies, and the last rate of each pair. */
export function CmdList() {
  const currencies = shop.select("select id, code, name, decimals, cash_step, used, position from currencies order by position, id");
  const rates = shop.select(
    `select r.id, r.base, r.quote, r.rate_e9, r.since from exchange_rates r
     where r.since = (select max(l.since) from exchange_rates l where l.base = r.base and l.quote = r.quote) order by r.base, r.quote`);
  return {
    result: true,
    message: `${currencies.length} currencies; the store's is ${shop.config("currency")}. A rate is in billionths.`,
    detail: { count: currencies.length, currency: shop.config("currency") },
    tables: { currencies, rates: rates.map((row) => ({ ...row, rate: Number(row.rate_e9) / 1e9 })) },
  };
}

/** What is named changes, everything else stays. */
export function CmdChange(userId, { code, name, cash_step, position }) {
  const fields = named({ name, cash_step, position });
  if (!find(code)) {
    return missing(code);
  }
  if (cash_step < 1 || Object.keys(fields).length === 0) {
    return no("Name at least one of name, position, cash_step; cash_step is at least 1 minor unit.");
  }
  const sets = Object.keys(fields).map((column) => `${column} = :${column}`);
  shop.execute(`update currencies set ${sets.join(", ")} where code = :code`, { ...fields, code });
  return { result: true, message: `${code}: ${Object.keys(fields).join(", ")} changed.`, detail: { code } };
}

/** A new rate, from now on; older ones stay for what was done under them. */
export function CmdRate(userId, { base, quote, rate }) {
  const unknown = [base, quote].find((code) => !find(code));
  if (unknown !== undefined) {
    return missing(unknown);
  }
  const rate_e9 = Math.round(rate * 1e9);
  if (base === quote || rate_e9 < 1 || !Number.isSafeInteger(rate_e9)) {
    return no("A rate is above 0 and below 9,000,000, between two currencies.");
  }
  const [id] = shop.insert("exchange_rates", { base, quote, rate_e9, since: new Date().toISOString().replace("Z", "000Z") });
  return { result: true, message: `1 ${base} is ${rate_e9 / 1e9} ${quote} from now on.`, detail: { id, rate_e9 } };
}

function find(code) {
  return shop.one("select id from currencies where code = :code", { code });
}

function missing(code) {
  return no(`There is no currency [${code}]. CmdList of CURRENCIES shows the currencies.`);
}
