// `shop.transaction(work)`: what `work` wrote stays if it returns, and is taken back if it throws.

export default function facade(shop, call) {
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
