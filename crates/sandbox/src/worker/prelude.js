// Runs first in every context: bounds what the interpreter cannot interrupt, and makes `shop`. It runs as often as
// units do, so it is written for speed.
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

// A method that is assigned stays as hidden as the one before it.
function boundLists() {
  const list = Array.prototype;
  for (const name of LISTS) {
    const native = list[name];
    list[name] = {
      [name](...args) {
        if (this != null && this.length > LONGEST) {
          throw new RangeError(`${name} of more than ${LONGEST} elements`);
        }
        return apply(native, this, args);
      },
    }[name];
  }
}

function boundTexts() {
  const text = String.prototype;
  for (const name of TEXTS) {
    const native = text[name];
    text[name] = {
      [name](...args) {
        const search = args[0];
        if (typeof search === "string" && typeof this === "string" && this.length * search.length > SEARCH) {
          throw new RangeError(`${name}: both texts are too long`);
        }
        return apply(native, this, args);
      },
    }[name];
  }
}

// Where an error was thrown is told from its stack, so units leave stacks alone.
function fixStacks() {
  Error.stackTraceLimit = 32;
  defineProperty(Error, "stackTraceLimit", { value: 32, writable: false, configurable: false });
  defineProperty(Error, "prepareStackTrace", { value: undefined, writable: false, configurable: false });
}

// The functions of `shop` in their groups, all frozen; `shop` itself is open yet.
function made(call, functions) {
  const shop = { __proto__: null };
  const groups = [];
  for (const path of functions) {
    const host = freeze((...args) => call(path, args));
    const dot = path.indexOf(".");
    if (dot < 0) {
      shop[path] = host;
      continue;
    }
    const name = path.slice(0, dot);
    let group = shop[name];
    if (group === undefined) {
      groups.push((group = shop[name] = { __proto__: null }));
    }
    group[path.slice(dot + 1)] = host;
  }
  for (const group of groups) freeze(group);
  return shop;
}

function freezeAll(value) {
  if ((typeof value !== "object" && typeof value !== "function") || value === null || isFrozen(value)) return;
  if (ArrayBuffer.isView(value)) return;
  freeze(value);
  for (const key of ownKeys(value)) freezeAll(value[key]);
}

export default function install(call, functions, facade) {
  for (const name of GONE) delete globalThis[name];
  const shop = made(call, functions);
  if (facade !== undefined) {
    facade(shop, (name, ...args) => call(name, args));
    for (const name of ownKeys(shop)) freezeAll(shop[name]);
  }
  boundLists();
  boundTexts();
  fixStacks();
  // The data of the call, when it begins.
  return (globals) => {
    for (const name of ownKeys(globals)) {
      freezeAll(globals[name]);
      put(shop, name, globals[name]);
    }
    freeze(shop);
    defineProperty(globalThis, "shop", { value: shop, writable: false, enumerable: true, configurable: false });
  };
}
