// Runs first in every context: bounds what the interpreter cannot interrupt, and makes `shop`.
// Nothing of it stays within reach of the unit but what it defines.

const { apply, ownKeys } = Reflect;
const { defineProperty, freeze, isFrozen } = Object;

// Loops in native code ask nobody whether to go on. Real lists are far shorter than this.
const LONGEST = 5_000_000;

// The search for a text compares at most the product of both lengths.
const SEARCH = 1_000_000_000;

const LISTS = [
  "concat", "copyWithin", "every", "fill", "filter", "find", "findIndex", "findLast", "findLastIndex",
  "flat", "flatMap", "forEach", "includes", "indexOf", "join", "lastIndexOf", "map", "reduce",
  "reduceRight", "reverse", "shift", "slice", "some", "sort", "splice", "toLocaleString", "toReversed",
  "toSorted", "toSpliced", "toString", "unshift", "with",
];

const TEXTS = ["includes", "indexOf", "lastIndexOf", "replace", "replaceAll", "split"];

const GONE = ["Atomics", "SharedArrayBuffer", "gc"];

function put(object, name, value) {
  defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true });
}

function boundLists() {
  for (const name of LISTS) {
    const native = Array.prototype[name];
    put(Array.prototype, name, {
      [name](...args) {
        if (this != null && this.length > LONGEST) {
          throw new RangeError(`${name} of more than ${LONGEST} elements`);
        }
        return apply(native, this, args);
      },
    }[name]);
  }
}

function boundTexts() {
  for (const name of TEXTS) {
    const native = String.prototype[name];
    put(String.prototype, name, {
      [name](...args) {
        const search = args[0];
        if (typeof search === "string" && typeof this === "string" && this.length * search.length > SEARCH) {
          throw new RangeError(`${name}: both texts are too long`);
        }
        return apply(native, this, args);
      },
    }[name]);
  }
}

// Where an error was thrown is told from its stack, so units leave stacks alone.
function fixStacks() {
  Error.stackTraceLimit = 32;
  defineProperty(Error, "stackTraceLimit", { value: 32, writable: false, configurable: false });
  defineProperty(Error, "prepareStackTrace", { value: undefined, writable: false, configurable: false });
}

function place(shop, path, call) {
  const names = path.split(".");
  const last = names.pop();
  let object = shop;
  for (const name of names) {
    object = object[name] ??= { __proto__: null };
  }
  object[last] = call;
}

function freezeAll(value) {
  if ((typeof value !== "object" && typeof value !== "function") || value === null || isFrozen(value)) return;
  if (ArrayBuffer.isView(value)) return;
  freeze(value);
  for (const key of ownKeys(value)) freezeAll(value[key]);
}

export default function install(call, functions, globals, facade) {
  for (const name of GONE) delete globalThis[name];
  const shop = { __proto__: null };
  for (const name of functions) place(shop, name, (...args) => call(name, args));
  if (facade !== undefined) facade(shop, (name, ...args) => call(name, args));
  for (const name of ownKeys(globals)) put(shop, name, globals[name]);
  freezeAll(shop);
  defineProperty(globalThis, "shop", { value: shop, writable: false, enumerable: true, configurable: false });
  boundLists();
  boundTexts();
  fixStacks();
}
