// What a unit can ask of the store. The same for every unit, in every language of units.

/** An amount in its currency's smallest unit (cents). */
type Minor = number;

/** An address of this store, like `/outdoor/jackets`. */
type Path = string;

interface FetchOptions {
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  headers?: { [name: string]: string };
  /** A text or bytes as they are, anything else as JSON. */
  body?: any;
  /** Milliseconds. */
  timeout?: number;
  as?: "text" | "json" | "bytes";
}

interface Fetched {
  status: number;
  /** Where redirects led to. */
  url: string;
  headers: { [name: string]: string };
  body: any;
}

interface Price {
  amount: Minor;
  currency: string;
  /** As people read it. */
  text: string;
  /** As machines read it: a point and no groups. */
  decimal: string;
  /** The price before a reduction. */
  compare_at: Minor | null;
  compare_text: string | null;
  /** The lowest of the 30 days before a reduction. Only of a product's own page. */
  lowest: Minor | null;
  lowest_text: string | null;
}

interface Image {
  id: number;
  /** For everybody: 960 pixels wide, or less where it has less. */
  url: Path;
  /** The same in all widths there are, for `srcset`. */
  srcset: string | null;
  width: number | null;
  height: number | null;
  alt: string;
}

/** A file of a row; of a picture with the fields of Image. */
interface ElementFile extends Partial<Image> {
  id: number;
  url: Path;
  kind: string;
  name: string;
  type: string;
  bytes: number;
  alt: string;
}

/** Lengths that pictures are made in. */
type Length = 160 | 320 | 480 | 640 | 960 | 1280 | 1920;

/** A product as lists show it. */
interface Card {
  id: number;
  name: string;
  url: Path;
  brand: string | null;
  /** The lowest price of its variants. */
  price: Price | null;
  /** Whether others of its variants cost more. */
  is_from: boolean;
  available: boolean;
  rating_sum: number;
  rating_count: number;
  image: Image | null;
}

interface Step {
  id: number;
  name: string;
  url: Path;
}

interface Branch extends Step {
  children: Branch[];
  /** Only where pictures were asked for. */
  image?: Image | null;
}

interface MenuItem {
  name: string;
  url: string;
  children: MenuItem[];
}

interface Category extends Step {
  parent_id: number | null;
  text: string;
  sort: Sort;
  /** Its address in each language. */
  urls: Record<string, Path>;
  /** From the top to itself. */
  path: Step[];
  children: Step[];
  seo_title: string | null;
  seo_description: string | null;
}

interface Variant {
  id: number;
  title: string;
  sku: string | null;
  gtin: string | null;
  mpn: string | null;
  /** Its values of the options. */
  values: number[];
  price: Price | null;
  available: boolean;
  /** How many can be bought; null is any number. */
  quantity: number | null;
  weight: number | null;
  min_quantity: number;
  max_quantity: number | null;
  step: number;
}

interface Product {
  id: number;
  name: string;
  text: string;
  state: "kShown" | "kUnlisted";
  url: Path | null;
  urls: Record<string, Path>;
  path: Step[];
  brand: { id: number; name: string; url: Path | null } | null;
  options: { id: number; name: string; values: { id: number; name: string }[] }[];
  variants: Variant[];
  attributes: { key: string; name: string; text: string }[];
  images: Image[];
  rating_sum: number;
  rating_count: number;
  changed: string;
  seo_title: string | null;
  seo_description: string | null;
}

interface Facet {
  key: string;
  name: string;
  is_chosen: boolean;
  choices: { key: string; name: string; count: number; chosen: boolean }[];
}

interface List {
  items: Card[];
  total: number;
  page: number;
  /** Pages that have a number. */
  pages: number;
  per: number;
  /** Only where they were asked for. */
  facets: Facet[];
  /** Where the next page begins, for `after`: behind the pages that have a number. */
  next: string | null;
}

interface Brand {
  id: number;
  name: string;
  text: string;
  site: string;
  url: Path | null;
  urls: Record<string, Path>;
  seo_title: string | null;
  seo_description: string | null;
}

interface Review {
  id: number;
  name: string;
  rating: number;
  text: string;
  answer: string;
  is_verified: boolean;
  created: string;
}

interface Page {
  id: number;
  key: string | null;
  name: string;
  text: string;
  url: Path | null;
  urls: Record<string, Path>;
  seo_title: string | null;
  seo_description: string | null;
}

/** An expected no: a key that pages word, and the field and number it is about. */
interface Problem {
  code: string;
  field: string | null;
  value: number | null;
}

/** What a call that changes something answers; `problem` is null where it was done. */
type Done<More = {}> = { problem: Problem | null } & Partial<More>;
type Checked = { problems: Problem[] };
/** `problem` says in words why nothing was done. */
type Worked<More = {}> = { problem: string | null } & Partial<More>;
type Pieces = { line: number; pieces: number };

/** A variant as rows tell of it; amounts are written like 12.50, measures in grams and millimetres. */
interface VariantRow {
  sku?: string;
  gtin?: string;
  /** Values by the names of options: `{ Size: "M" }`. */
  options?: Record<string, string>;
  price?: string | number;
  compare_at?: string | number;
  cost?: string | number;
  stock?: number;
  weight?: number;
  length?: number;
  width?: number;
  height?: number;
  tracked?: boolean;
  backorder?: number | "any";
}

/** A product as rows tell of it; the fields of its only variant may stand in the row itself. */
interface ProductRow extends VariantRow {
  product?: number;
  path?: string;
  external_id?: string;
  name?: string;
  text?: string;
  brand?: string;
  /** Paths of names like `Tea > Green`; the first is the one that the page shows. */
  category?: string | string[];
  tags?: string[];
  attributes?: Record<string, string | number | boolean>;
  variants?: VariantRow[];
}

interface Amount {
  amount: Minor;
  text: string;
}

interface Sums {
  goods: Amount;
  discount: Amount;
  discounts: { name: string; code: string | null; amount: Amount }[];
  shipping: { name: string; amount: Amount } | null;
  fees: Amount;
  rounding: Amount;
  tax: Amount;
  /** Whether prices hold the tax. */
  tax_included: boolean;
  total: Amount;
}

interface CartLine {
  /** Null of a gift. */
  id: number | null;
  is_gift: boolean;
  variant: number;
  product: number;
  name: string | null;
  options: string;
  sku: string | null;
  url: Path | null;
  image: Image | null;
  quantity: number;
  min_quantity: number | null;
  max_quantity: number | null;
  step: number | null;
  price: Amount | null;
  /** The price that the visitor saw, where it is another now. */
  price_before: Amount | null;
  amount: Amount | null;
  discount: Amount | null;
  total: Amount | null;
  /** Why it cannot be bought so. */
  problem: Problem | null;
}

interface Cart {
  id: number | null;
  lines: CartLine[];
  count: number;
  can_order: boolean;
  coupons: { code: string; works: boolean }[];
  sums: Sums | null;
}

interface PostAddress {
  name: string;
  company: string;
  country: string;
  region: string;
  city: string;
  postcode: string;
  line1: string;
  line2: string;
  phone: string;
  tax_number: string;
}

interface Country {
  code: string;
  name: string;
  /** Fields an address there must have, with commas between. */
  required: string;
}

interface Checkout {
  cart: Cart;
  /** The first step that lacks something. */
  step: "cart" | "contact" | "methods" | "summary";
  /** What the visitor confirms: goes back with `place`. */
  seen: string;
  ships: boolean;
  /** Whether the shopper may come for the goods, with `address_id` = `fetch` in place of an address. */
  can_fetch: boolean;
  /** Whether they do: of `address` only name and country are there, and only ways with `pickup` can be chosen. */
  fetches: boolean;
  email: string;
  phone: string;
  comment: string;
  address: PostAddress | null;
  address_lines: string[];
  /** Where the invoice goes, if that is another address. */
  invoice_address: PostAddress | null;
  invoice_lines: string[];
  countries: Country[];
  /** Also those that nothing is sent to. */
  all_countries: Country[];
  shipping_methods: {
    id: number; name: string; text: string; pickup: boolean; days_min: number | null; days_max: number | null;
    amount: Amount; chosen: boolean;
    /** Where it can be fetched, of a way by which the customer comes for the goods. */
    places: { id: number; name: string; address: string; chosen: boolean }[];
  }[];
  payment_methods: { id: number; name: string; text: string; fee: Amount; chosen: boolean }[];
  payment_name: string | null;
  /** Of whoever is signed in. */
  customer?: { email: string; name: string };
  addresses?: (PostAddress & { id: number })[];
}

interface Order {
  number: string;
  /** The word in the address of its page. */
  token: string | null;
  path: Path | null;
  url: string | null;
  placed: string;
  pay_until: string | null;
  state: "kDraft" | "kWait" | "kNew" | "kAccept" | "kDone" | "kCancel";
  own_state: string;
  pay: "kNone" | "kHeld" | "kPart" | "kPaid" | "kOver" | "kPartBack" | "kBack";
  delivery: "kNone" | "kPart" | "kSent" | "kArrived" | "kPartBack" | "kBack";
  reason: string;
  email: string;
  phone: string;
  name: string | null;
  address_lines: string[];
  invoice_lines: string[];
  /** Where the goods are fetched. */
  pickup: { name: string; address: string } | null;
  comment: string;
  shipping_name: string;
  payment_name: string;
  payment_text: string;
  lines: {
    id: number; product: number; name: string; options: string; sku: string; quantity: number; cancelled: number; shipped: number; returned: number;
    price: Amount; discount: Amount; total: Amount; url: Path | null; image: Image | null;
  }[];
  tax_included: boolean;
  goods: Amount;
  discount: Amount;
  discounts: { name: string; code: string; amount: Amount }[];
  shipping: Amount;
  fees: Amount;
  rounding: Amount;
  tax: Amount;
  total: Amount;
  paid: Amount;
  refunded: Amount;
  parcels: { carrier: string; tracking: string; state: string; sent: string | null }[];
  history: { time: string; axis: string; new: string; text: string }[];
  can_cancel: boolean;
  can_return: boolean;
  /** Whether a return is asked for whose goods are not here yet. */
  return_open: boolean;
  can_pay: boolean;
  /** Whether the last attempt to pay failed. */
  payment_failed: boolean;
}

type Sort = "popular" | "new" | "price" | "price_down" | "name" | "rating";
type Params = Record<string, string | number | bigint | boolean | null>;
type Row = Record<string, any>;
type Fields = Record<string, string | string[]>;

/** Every failed call throws an Error whose `code` says what kind: ARGUMENT, SQL, LIMIT, TEMPLATE, NOT_GRANTED, NOT_POST, DATABASE. */
declare const shop: {
  // The page.
  readonly language: string;
  readonly currency: string;
  /** The group of templates. */
  readonly template: string;

  // Who asks for what. A unit that mentions these is kept per address or not at all.
  readonly request: {
    readonly method: "GET" | "POST";
    readonly path: string;
    readonly url: string;
    readonly query: Fields;
    readonly post: Fields;
  };
  /** The person of the store who works here; null is a visitor. */
  readonly user: { readonly id: number; readonly login: string; readonly name: string } | null;
  readonly cookies: Fields;

  // Data, by statements that read. `:name` stands for a value of `params`.
  select(sql: string, params?: Params): Row[];
  one(sql: string, params?: Params): Row | null;
  value(sql: string, params?: Params): any;

  // Writing: only tables that the manifest names in `writes`, all of a run or nothing. A visitor's GET writes nothing.
  /** One insert, update or delete; how many rows it changed. */
  execute(sql: string, params?: Params): number;
  /** New rows; their numbers. */
  insert(table: string, rows: Row | Row[]): number[];
  /** What `work` wrote is taken back if it throws. */
  transaction<T>(work: () => T): T;

  // Data, by calls that know the rules.
  readonly categories: {
    /** With `pictures` each of the uppermost has its picture, or else that of what sells most of it. */
    tree(options?: { depth?: number; parent?: number; pictures?: boolean }): Branch[];
    get(id: number): Category | null;
  };
  readonly products: {
    list(options?: {
      category?: number;
      page?: number;
      /** Instead of a page's number: `next` of the page before. */
      after?: string;
      per?: number;
      sort?: Sort;
      /** Keys of choices, by attribute: `{ f_colour: ["green"], f_brand: ["3"] }`. */
      filters?: Record<string, string | string[]>;
      facets?: boolean;
      /** `false`: how many there are is not counted, which takes long in large lists; `total` and `pages` are null. */
      total?: boolean;
      available?: boolean;
    }): List;
    get(id: number): Product | null;
    links(id: number, kind?: "kUpsell" | "kCross" | "kAnalog" | "kSpare"): Card[];
  };
  readonly brands: { get(id: number): Brand | null; list(): Step[] };
  readonly prices: { of(variants: number[]): Record<string, Price> };
  readonly stock: { of(variants: number[]): Record<string, number | null> };
  readonly reviews: {
    of(product: number, options?: { page?: number; per?: number }): { items: Review[]; total: number; page: number };
    /** How many have one star, two, … five. */
    stars(product: number): number[];
    /** Takes what a visitor's form says; visitors see it once the store has looked at it. LIMIT: too many wait. */
    add(review: { product: number; name: string; rating: number; text: string }): void;
  };
  readonly pages: {
    get(id: number | string): Page | null;
    /** The home page of each language. */
    homes(): Record<string, Path>;
  };
  readonly menus: { get(key: string): MenuItem[] };
  /** The files of a row, in order. */
  file(entity: string, id: number): ElementFile[];
  /** A picture in a size, and at twice the size for dense screens. `inside` shows all of it, `cover` fills the box. */
  image(file: { url: Path }, options?: { width?: Length; height?: Length; fit?: "inside" | "cover" }): Omit<Image, "id">;
  /** `meant` is what was searched instead, where nothing holds what was typed. */
  search(text: string, options?: { page?: number; per?: number }): Omit<List, "facets" | "next"> & { meant: string | null };

  // Buying. What changes something works for a form that was sent (POST) only, and in the visitor's own name.
  readonly cart: {
    get(): Cart;
    /** How many lines it has. */
    count(): number;
    add(variant: number | string, quantity?: number | string): Done;
    /** 0 removes the line. */
    set(line: number | string, quantity: number | string): Done;
    coupon(code: string): Done;
    remove_coupon(code: string): Done;
  };
  readonly checkout: {
    /** Null where nothing lies in the cart. */
    get(): Checkout | null;
    countries(): Country[];
    /** `email`, `phone`, the fields of an address or `address_id`; with `invoice`, those of another one as `invoice_name`, … */
    contact(form: Fields): Checked;
    /** `shipping`, `place` where goods are fetched, `payment`, `comment`. */
    methods(form: Fields): Checked;
    /** `cart` and `seen`. Sends the visitor on: to the payment, else to the order. */
    place(form: Fields): Done<{ token: string; url: Path }>;
  };
  readonly orders: {
    get(token: string): Order | null;
    /** Of whoever is signed in; null for a guest. */
    list(): Order[] | null;
    cancel(token: string): Done;
    /** Sends the visitor on to the payment. */
    pay(token: string): Done;
    /** `quantity_<line>` and `reason`: the store is told, and answers by mail. */
    ask_return(token: string, form: Fields): Done;
    /** Puts what it held into the cart, as far as it can be had. */
    repeat(token: string): Done<{ left_out: number }>;
  };
  /** The account of whoever is signed in. */
  readonly customer: {
    get(): { id: number; email: string; name: string; phone: string; is_confirmed: boolean } | null;
    sign_in(email: string, password: string): Done<{ shortened: { variant: number; wanted: number; got: number }[] }>;
    /** `email`, `password`, `name`. */
    sign_up(form: Fields): Done<{ shortened: { variant: number; wanted: number; got: number }[] }>;
    sign_out(): Done;
    ask_password(email: string): Done;
    set_password(token: string, password: string): Done;
    change_password(old: string, password: string): Done;
    confirm(token: string): Done<{ orders: number }>;
    /** `name`, `phone`. */
    save(form: Fields): Done;
    addresses(): (PostAddress & { id: number })[] | null;
    add_address(form: Fields): Checked;
    remove_address(id: number | string): Done;
    export(): object | null;
    erase(password: string): Done;
  };

  /** Work of the store's people, for commands of the store's own tools only; the person needs the right. */
  readonly staff: {
    /** Right ORDERS. One whose payment waits at its provider is not cancelled so. */
    move_order(order: number, state: string, reason?: string): Worked;
    /** Right ORDERS. Without `lines` everything that is left. */
    ship(order: number, parcel?: { lines?: Pieces[]; carrier?: string; tracking?: string }): Worked<{ shipment: number }>;
    /** Right ORDERS. Pieces that are not sent any more; the customer reads `reason`. */
    cancel_pieces(order: number, what: { lines: Pieces[]; reason?: string }): Worked;
    /** Right ORDERS. */
    note(order: number, text: string, for_customer?: boolean): Worked<{ note: number }>;
    /** Right ORDERS. Pieces that came back or were cancelled; amounts in minor units. One key, one refund. */
    refund(
      order: number,
      what: { key: string; lines?: Pieces[]; shipping?: Minor; extra?: Minor; reason?: string },
    ): Worked<{ refunds: number[] }>;
    /** Right PRODUCTS. What is not named stays. */
    review(review: number, fields: { answer?: string; state?: "kNew" | "kShown" | "kHidden" }): Worked;
    /** Right SCHEDULER. */
    add_task(login: string, name: string, body?: string): Worked<{ task: number }>;
    /** Right SCHEDULER. */
    hand_task(task: number, login: string, note?: string): Worked;
    /**
     * Right PRODUCTS. Rows become products, found again by `product`, `path`, `external_id` or article number; new ones are
     * drafts. Without `apply`, and where a row has a mistake, nothing of it stays. Rows that name none of these are left out
     * unless `keyless`. Prices that change by more than half are done only if no more of them jump than `jumps` says.
     */
    import_products(rows: ProductRow[], how?: { apply?: boolean; keyless?: boolean; jumps?: number }): Worked<{
      rows: number; new: number; changed: number; same: number; keyless: number; applied: boolean;
      problem_count: number;
      problems: { row: number; column: string; value: string; code: string; why: string }[];
      jump_count: number;
      /** In minor units. */
      jumps: { row: number; sku: string; what: string; before: Minor; after: Minor }[];
      products: { row: number; product: number | null; what: "new" | "changed" | "same" }[];
    }>;
    /** Right PRODUCTS. What is not named stays; so with all changes here. */
    change_product(product: number, fields: {
      name?: string; text?: string; kind?: "kGoods" | "kDigital" | "kService"; state?: "kDraft" | "kShown" | "kUnlisted" | "kArchive";
      brand?: number | null; tax_class?: number | null; measure?: number | null;
      /** The one whose path the page shows. */
      category?: number | null;
      /** All it lies in. */
      categories?: number[];
      path?: string;
    }): Worked;
    /** Right PRODUCTS. `backorder: null` is any number; costs in minor units of the store's currency. */
    change_variant(variant: number, fields: {
      sku?: string | null; gtin?: string | null; mpn?: string | null; position?: number; weight?: number | null; length?: number | null;
      width?: number | null; height?: number | null; tracked?: boolean; backorder?: number | null; min_quantity?: number;
      max_quantity?: number | null; step?: number; cost?: Minor | null; hs_code?: string | null; ships?: boolean;
    }): Worked<{ product: number }>;
    /** Right PRODUCTS. Not the last one of a product. */
    remove_variant(variant: number): Worked<{ product: number }>;
    /** Right PRODUCTS. All or none; what a price was stays in its history. */
    set_prices(prices: {
      variant: number; list: number; amount: Minor; compare_at?: Minor | null; min_quantity?: number; valid_from?: string | null; valid_until?: string | null;
    }[]): Worked<{ count: number }>;
    /** Right PRODUCTS. What was counted, or what is added; without `location` in the first that sells. */
    set_stock(variant: number, what: { count?: number; add?: number; location?: number; reason?: string }): Worked<{ location: number; before: number; on_hand: number }>;
    /** Right PRODUCTS. */
    move_stock(variant: number, from: number, to: number, pieces: number): Worked<{ from: number; to: number }>;
    /** Right PRODUCTS. A null makes a new one; `parent: null` is the top. */
    save_category(category: number | null, fields: {
      name?: string; text?: string; state?: "kShown" | "kHidden"; sort?: string; parent?: number | null; position?: number; path?: string;
    }): Worked<{ category: number }>;
    /** Right PRODUCTS. Its products stay; not while others lie in it. */
    remove_category(category: number): Worked;
    /** Right PRODUCTS. A null makes a new one. */
    save_brand(brand: number | null, fields: { name?: string; text?: string; site?: string; position?: number; path?: string }): Worked<{ brand: number }>;
    /** Right PRODUCTS. Not while products are of it. */
    remove_brand(brand: number): Worked;
    /** Right USERS. A null makes a new person, who has no password yet. Nobody locks themselves out, or gives rights they do not have. */
    save_user(user: number | null, fields: { login?: string; name?: string; blocked?: boolean; main_group?: number | null; groups?: number[] }): Worked<{ user: number }>;
    /** Right ORDERS. */
    change_customer(customer: number, fields: { name?: string; phone?: string; group?: number | null; tax_number?: string; blocked?: boolean }): Worked;
    /** Right ORDERS. For good: name, mail, telephone and street go everywhere. */
    erase_customer(customer: number): Worked;
    /** Right INSTALLATION. A key of one of the store's lists, new or with another name. */
    save_registry(branch: string, skey: string, name: string): Worked<{ id: number; is_new: boolean }>;
  };

  // Making pages.
  render(template: string, data?: object): string;
  unit(name: string, vars?: object): string;
  /** Words of `words.<language>.json` beside the unit's templates, else of the unit `layout`. */
  t(key: string, values?: { count?: number; [name: string]: string | number | undefined }): string;
  money(value: Minor, currency?: string): string;
  date(time: string, style?: "day" | "short" | "time" | "iso"): string;
  /** When a day of the store's zone begins, or the one so many days later: a UTC time as tables hold it. */
  moment(day: string, days?: number): string;

  // Settings.
  config(key: "name" | "url" | "language" | "time_zone" | "currency" | "template"): string;
  /** Only what config.json grants the unit. Its value is taken out of pages and logs. */
  secret(key: string): string | null;

  // The answer.
  redirect(url: Path, status?: 301 | 302 | 303 | 307 | 308): void;
  status(code: number): void;
  header(name: string, value: string): void;
  cookie(name: string, value: string, options?: { days?: number }): void;

  // What follows, once the answer stands.
  event(key: string, data?: object | null, to?: { user?: number; group?: number }): void;
  /** A mail by the templates `mails/<template>/`. One `key` tells one address once. */
  mail(to: string, template: string, data?: object | null, options?: { key?: string; language?: string }): void;

  // Other servers: hosts that the manifest names in `network` and the owner grants in config.json.
  fetch(url: string, options?: FetchOptions): Fetched;

  // For developers.
  log(level: "info" | "warn" | "error", text: string): void;
  debug(value: unknown): void;
};
