// What of `shop` is more than one host call each.

export default function facade(shop, call) {
  // The settings stay as they are for as long as a unit runs, and pages ask for the same ones again and again.
  const settings = { __proto__: null };
  shop.config = (key) => {
    if (typeof key !== "string") return call("config", key);
    return (settings[key] ??= call("config", key));
  };

  // What `work` wrote stays if it returns, and is taken back if it throws.
  shop.transaction = function transaction(work) {
    if (typeof work !== "function") throw new TypeError("shop.transaction(): `work` is a function");
    call("transaction.begin");
    let isKept = false;
    try {
      const answer = work();
      if (answer instanceof Promise) throw new TypeError("shop.transaction(): `work` is no async function");
      isKept = true;
      return answer;
    } finally {
      call("transaction.end", isKept);
    }
  };
}
