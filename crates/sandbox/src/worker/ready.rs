//! Interpreters made before they are needed: each serves one call and no other.
//!
//! Making one takes longer than most units run. So a worker makes some while it has nothing to do, and ends those
//! that have served then too, when nobody waits for it.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::{Context, Function, Persistent, Result, Runtime};

use super::allocator::{Counting, Meter};
use super::engine::Engine;
use super::host::{self, Late, RunUnit};
use super::limits::STACK;
use super::shop::Shop;

/// How many are kept ready: about as many as a page has units.
const READY: usize = 8;

/// One that holds more than this when it has served ends at once.
const SMALL: usize = 4 << 20;

/// Memory for what every unit finds; a call has its own limit.
const MEMORY: u64 = 64 << 20;

/// An interpreter with nothing in it but what every unit finds.
pub(super) struct Ready {
    // In this order they end: what is held in the interpreter before it.
    /// Adds the data of a call to `shop` and closes it.
    pub(super) finish: Persistent<Function<'static>>,
    pub(super) context: Context,
    pub(super) runtime: Runtime,
    /// Counts what it holds, from its beginning.
    pub(super) meter: Rc<Meter>,
    /// Where its host calls find the limits of the call.
    pub(super) late: Rc<Late>,
}

impl Ready {
    /// Makes one.
    pub(super) fn new(engine: &Engine, shop: &Shop, run: RunUnit) -> Result<Self> {
        let meter = Meter::new(MEMORY);
        let runtime = Runtime::new_with_alloc(Counting(Rc::clone(&meter)))?;
        runtime.set_max_stack_size(STACK);
        let context = Shop::context(&runtime)?;
        let late = Rc::new(Late::default());
        let finish = context.with(|ctx| {
            let call = host::function(&ctx, engine, &late, run)?;
            Ok::<_, rquickjs::Error>(Persistent::save(&ctx, shop.install(&ctx, call)?))
        })?;
        Ok(Self { finish, context, runtime, meter, late })
    }
}

/// An interpreter that has served.
pub(super) struct Used {
    pub(super) _context: Context,
    pub(super) _runtime: Runtime,
    pub(super) meter: Rc<Meter>,
}

/// The interpreters of a worker that do not serve just now.
#[derive(Default)]
pub(super) struct Supply {
    ready: RefCell<Vec<Ready>>,
    used: RefCell<Vec<Used>>,
}

impl Supply {
    /// One that is ready, if there is any.
    pub(super) fn take(&self) -> Option<Ready> {
        self.ready.borrow_mut().pop()
    }

    /// Keeps one that has served until there is time to end it, unless it holds much.
    pub(super) fn put_away(&self, used: Used) {
        if used.meter.held() <= SMALL {
            self.used.borrow_mut().push(used);
        }
    }

    /// Ends those that have served.
    pub(super) fn clear(&self) {
        self.used.take();
    }

    /// Whether more should be ready.
    pub(super) fn is_short(&self) -> bool {
        self.ready.borrow().len() < READY
    }

    /// Adds one.
    pub(super) fn add(&self, ready: Ready) {
        self.ready.borrow_mut().push(ready);
    }
}
