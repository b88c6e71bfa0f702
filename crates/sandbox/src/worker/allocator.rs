//! The allocator of the interpreter, which counts.
//!
//! The interpreter does not survive it everywhere when it is refused memory (`set_memory_limit` crashes
//! it). So past the limit it goes on getting small blocks while the script is being stopped by the
//! interrupt handler; refused are only large blocks, which it asks for at few places that can bear it,
//! and everything past a second limit at twice the first.
#![expect(unsafe_code, reason = "an allocator hands out raw memory; each block says why it is sound")]

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, realloc};
use std::cell::Cell;
use std::ptr;
use std::rc::Rc;

use rquickjs::allocator::Allocator;

/// Blocks larger than this are refused past the limit.
const LARGE: usize = 256 << 10;

/// What more than twice the limit is granted.
const RESERVE: usize = 4 << 20;

/// What all calls that lie in each other may take together.
const TOGETHER: usize = 512 << 20;

/// Alignment of all blocks, as of C's `malloc`.
const ALIGN: usize = 16;

/// Before each block lies its size, in one unit of alignment.
const HEAD: usize = ALIGN;

thread_local! {
    /// What all interpreters of this thread hold.
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// How much an interpreter holds, and whether that is too much.
#[derive(Debug)]
pub(super) struct Meter {
    held: Cell<usize>,
    limit: Cell<usize>,
    over: Cell<bool>,
}

impl Meter {
    pub(super) fn new(limit: u64) -> Rc<Self> {
        let meter = Rc::new(Self { held: Cell::new(0), limit: Cell::new(0), over: Cell::new(false) });
        meter.set_limit(limit);
        meter
    }

    /// Sets how much it may hold from now on, with what it holds already.
    pub(super) fn set_limit(&self, limit: u64) {
        self.limit.set(usize::try_from(limit).unwrap_or(TOGETHER).min(TOGETHER));
    }

    /// How much it holds.
    pub(super) fn held(&self) -> usize {
        self.held.get()
    }

    /// Whether the limit was passed at any time.
    pub(super) fn is_over(&self) -> bool {
        self.over.get()
    }

    /// Whether `more` bytes may be taken in one block.
    fn allows(&self, more: usize) -> bool {
        let would = self.held.get().saturating_add(more);
        if would <= self.limit.get() && HELD.get().saturating_add(more) <= TOGETHER {
            return true;
        }
        self.over.set(true);
        more <= LARGE && would <= self.limit.get().saturating_mul(2).saturating_add(RESERVE)
    }

    fn took(&self, bytes: usize) {
        self.held.set(self.held.get().saturating_add(bytes));
        HELD.set(HELD.get().saturating_add(bytes));
    }

    fn gave(&self, bytes: usize) {
        self.held.set(self.held.get().saturating_sub(bytes));
        HELD.set(HELD.get().saturating_sub(bytes));
    }
}

/// The allocator of one interpreter.
pub(super) struct Counting(pub(super) Rc<Meter>);

/// The layout of a block of this size with its head, if there can be one.
fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(HEAD)?, ALIGN).ok()
}

impl Counting {
    /// Takes a block by `take` and writes its size before it.
    fn block(&self, size: usize, take: impl FnOnce(Layout) -> *mut u8) -> *mut u8 {
        let Some(layout) = layout(size).filter(|_| self.0.allows(size)) else { return ptr::null_mut() };
        let start = take(layout);
        if start.is_null() {
            return start;
        }
        self.0.took(size);
        // SAFETY: `start` begins a block of `HEAD + size` bytes aligned to 16 (`layout`), so a `usize`
        // fits at its start, and `HEAD` bytes on is still in it or just at its end.
        unsafe {
            start.cast::<usize>().write(size);
            start.add(HEAD)
        }
    }

    /// The size that was written before a block of ours.
    ///
    /// # Safety
    /// `block` was returned by `block()` above and not given back since.
    unsafe fn size(block: *mut u8) -> usize {
        // SAFETY: the caller promises that `HEAD` bytes before it lies the size that `block()` wrote.
        unsafe { block.sub(HEAD).cast::<usize>().read() }
    }
}

// SAFETY: blocks come from the global allocator with at least the asked size, aligned to 16; the size is
// kept before the block, so that it is given back with the layout it was taken with; a failure is null.
unsafe impl Allocator for Counting {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        // SAFETY: the layout has a size above zero, since the head is in it.
        self.block(size, |layout| unsafe { alloc(layout) })
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some(bytes) = count.checked_mul(size) else { return ptr::null_mut() };
        // SAFETY: the layout has a size above zero, since the head is in it.
        self.block(bytes, |layout| unsafe { alloc_zeroed(layout) })
    }

    unsafe fn dealloc(&mut self, block: *mut u8) {
        if block.is_null() {
            return;
        }
        // SAFETY: the interpreter gives back blocks that it got here, once. The layout is the one the
        // block was taken with: it was valid then, so `layout` gives it again.
        unsafe {
            let size = Self::size(block);
            if let Some(layout) = layout(size) {
                self.0.gave(size);
                dealloc(block.sub(HEAD), layout);
            }
        }
    }

    unsafe fn realloc(&mut self, block: *mut u8, wanted: usize) -> *mut u8 {
        if block.is_null() {
            return self.alloc(wanted);
        }
        if wanted == 0 {
            // SAFETY: the caller's promise is that of `dealloc`.
            unsafe { self.dealloc(block) };
            return ptr::null_mut();
        }
        // SAFETY: the caller promises a block of ours.
        let size = unsafe { Self::size(block) };
        let (Some(old), Some(new)) = (layout(size), layout(wanted)) else { return ptr::null_mut() };
        if wanted > size && !self.grows(size, wanted) {
            return ptr::null_mut();
        }
        // SAFETY: `block - HEAD` was taken with `old`; `new.size()` is above zero and a valid size for
        // the alignment. If it fails the old block stays as it was, and so does its head.
        unsafe {
            let start = realloc(block.sub(HEAD), old, new.size());
            if start.is_null() {
                return start;
            }
            self.0.gave(size);
            self.0.took(wanted);
            start.cast::<usize>().write(wanted);
            start.add(HEAD)
        }
    }

    unsafe fn usable_size(block: *mut u8) -> usize {
        // SAFETY: the caller promises a block of ours.
        unsafe { Self::size(block) }
    }
}

impl Counting {
    /// Whether a block may grow. What counts as large is the whole block: each growth of a string that
    /// is megabytes long is a small one.
    fn grows(&self, size: usize, wanted: usize) -> bool {
        self.0.allows(wanted - size) && !(self.0.is_over() && wanted > LARGE)
    }
}
