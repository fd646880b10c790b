//! Memory that runs out: an exception, whichever allocation it was that failed.
//!
//! What the data decide the size of is kept in the collections of [`holdall_format::memory`], which ask for room first and
//! unwind where there is none. All else that is allocated is small (an `Rc`, a boxed frame, an exception's text), and Rust
//! ends the process where that fails. So the allocator has a *reserve*: a small block that fails is taken from there, and
//! [`check`] unwinds at the next container. Whatever unwinds is a `MemoryError` at the door (`error::door`).

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

pub use holdall_format::memory::{
    format, out_of_memory, push, read_to_end, sort_by_cached_key, text, vec, zeroed, HashMap, HashSet, OutOfMemory,
    Vec, VecDeque, Zeroable,
};
pub type FxHashMap<K, V> = HashMap<K, V, rustc_hash::FxBuildHasher>;

/// The largest block that the reserve gives: an open container and what is boxed with it take some hundred bytes; class names,
/// paths and texts of errors may take more.
const LARGEST: usize = 64 << 10;
/// The whole reserve. No page of it is used before memory runs out.
const RESERVE: usize = 2 << 20;
/// What it is given out in.
const UNIT: usize = 256;
const UNITS: usize = RESERVE / UNIT;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// A block came from the reserve, and nobody was told yet.
static RAN_OUT: AtomicBool = AtomicBool::new(false);

/// Unwinds if memory has run out since the last time. To be called for each container, so that no loop can use the reserve up.
#[inline(always)]
pub fn check() {
    if RAN_OUT.load(Ordering::Relaxed) {
        tell();
    }
}

/// Forgets that memory ran out: it was enough, or is told now.
#[inline(always)]
pub fn forget() {
    if RAN_OUT.load(Ordering::Relaxed) {
        RAN_OUT.store(false, Ordering::Relaxed);
    }
}

#[cold]
#[inline(never)]
fn tell() {
    if RAN_OUT.swap(false, Ordering::Relaxed) {
        out_of_memory();
    }
}

/// The system's allocator, with a reserve.
struct Allocator;

// SAFETY: blocks are the system's, or the reserve's: each goes back to where it came from, which its address tells.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller says.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() {
            return STORE.take(layout);
        }
        block
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller says.
        let block = unsafe { System.alloc_zeroed(layout) };
        if block.is_null() {
            let block = STORE.take(layout);
            if !block.is_null() {
                // SAFETY: a block of that size.
                unsafe { block.write_bytes(0, layout.size()) };
            }
            return block;
        }
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if STORE.has(block) {
            return STORE.give_back(block, layout.size());
        }
        // SAFETY: as the caller says, and not one of the reserve's.
        unsafe { System.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !STORE.has(block) {
            // SAFETY: as the caller says, and not one of the reserve's.
            let moved = unsafe { System.realloc(block, layout, size) };
            if !moved.is_null() {
                return moved;
            }
            if size <= layout.size() {
                // It is large enough; the system looks at no size when it is freed.
                return block;
            }
        }
        // SAFETY: as the caller says.
        unsafe { self.moved(block, layout, size) }
    }
}

impl Allocator {
    /// A block in another place.
    ///
    /// # Safety
    /// As for `realloc`.
    #[cold]
    #[inline(never)]
    unsafe fn moved(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's `size` is valid for that alignment; the new block is apart from the old one, and both have as
        // many bytes as are copied.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                new.copy_from_nonoverlapping(block, layout.size().min(size));
                self.dealloc(block, layout);
            }
            new
        }
    }
}

#[repr(align(4096))]
struct Store {
    bytes: UnsafeCell<[u8; RESERVE]>,
    /// Which units are given out; to be looked at under the lock only.
    used: UnsafeCell<[bool; UNITS]>,
    locked: AtomicBool,
}

// SAFETY: who holds the lock alone touches `used`; of `bytes` each unit belongs to whom it was given.
unsafe impl Sync for Store {}

static STORE: Store = Store {
    bytes: UnsafeCell::new([0; RESERVE]),
    used: UnsafeCell::new([false; UNITS]),
    locked: AtomicBool::new(false),
};

impl Store {
    #[inline(always)]
    fn has(&self, block: *mut u8) -> bool {
        (block as usize).wrapping_sub(self.bytes.get() as usize) < RESERVE
    }

    #[cold]
    #[inline(never)]
    fn take(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST || layout.align() > UNIT {
            return std::ptr::null_mut();
        }
        RAN_OUT.store(true, Ordering::Relaxed);
        let wanted = layout.size().div_ceil(UNIT).max(1);
        let found = self.with_units(|used| {
            let mut free = 0;
            for at in 0..UNITS {
                free = if used[at] { 0 } else { free + 1 };
                if free == wanted {
                    let from = at + 1 - wanted;
                    used[from..=at].fill(true);
                    return Some(from);
                }
            }
            None
        });
        // SAFETY: within the block, by the search.
        found.map_or(std::ptr::null_mut(), |from| unsafe { self.bytes.get().cast::<u8>().add(from * UNIT) })
    }

    #[cold]
    #[inline(never)]
    fn give_back(&self, block: *mut u8, size: usize) {
        let from = (block as usize - self.bytes.get() as usize) / UNIT;
        self.with_units(|used| used[from..from + size.div_ceil(UNIT).max(1)].fill(false));
    }

    fn with_units<T>(&self, work: impl FnOnce(&mut [bool; UNITS]) -> T) -> T {
        while self.locked.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            std::hint::spin_loop();
        }
        // SAFETY: the lock is ours, and `work` (see above) neither panics nor allocates.
        let done = work(unsafe { &mut *self.used.get() });
        self.locked.store(false, Ordering::Release);
        done
    }
}
