//! Running out of memory: every allocation that fails becomes an exception.
//!
//! Everything whose size depends on the data is in the collections of [`holdall_format::memory`], which ask for memory
//! first and unwind if there is none. All other allocations are small (an `Rc`, a boxed frame, an exception's text),
//! and Rust ends the process when one of them fails. So the allocator has a *reserve*, which serves small blocks that
//! the system refuses, and [`check`] unwinds at the next container. At the door (`error::door`) unwinding becomes a
//! `MemoryError`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

pub use holdall_format::memory::{
    format, out_of_memory, push, read_to_end, sort_by_cached_key, text, vec, zeroed, HashMap, HashSet, OutOfMemory,
    Vec, VecDeque, Zeroable,
};
pub type FxHashMap<K, V> = HashMap<K, V, rustc_hash::FxBuildHasher>;

/// The largest block from the reserve. An open container with its boxes takes about a hundred bytes; class names, paths
/// and error messages may take more.
const LARGEST: usize = 64 << 10;
/// Size of the reserve. Its pages are not touched before memory runs out.
const RESERVE: usize = 2 << 20;
/// The reserve is handed out in multiples of this.
const UNIT: usize = 256;
const UNITS: usize = RESERVE / UNIT;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// A block came from the reserve and nobody has been told yet.
static RAN_OUT: AtomicBool = AtomicBool::new(false);

/// Unwinds if memory has run out since the last call. Called for each container, so that no loop can use up the
/// reserve.
#[inline(always)]
pub fn check() {
    if RAN_OUT.load(Ordering::Relaxed) {
        tell();
    }
}

/// Forgets that memory ran out: the reserve was enough, or the error is on its way.
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

/// The system's allocator with a reserve.
struct Allocator;

// SAFETY: every block comes from the system or from the reserve, and its address says from which: it goes back there.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: `layout` is valid by the contract of `GlobalAlloc`.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() {
            return STORE.take(layout);
        }
        block
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: `layout` is valid by the contract of `GlobalAlloc`.
        let block = unsafe { System.alloc_zeroed(layout) };
        if block.is_null() {
            let block = STORE.take(layout);
            if !block.is_null() {
                // SAFETY: `take` gives null or at least `layout.size()` bytes.
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
        // SAFETY: the address is not the reserve's, so the system gave the block, for this layout by contract.
        unsafe { System.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !STORE.has(block) {
            // SAFETY: the address is not the reserve's, so the system gave the block, for this layout by contract.
            let moved = unsafe { System.realloc(block, layout, size) };
            if !moved.is_null() {
                return moved;
            }
            if size <= layout.size() {
                // It is large enough as it is, and the system needs no size to free it.
                return block;
            }
        }
        // SAFETY: same contract as `realloc`, which the caller fulfils.
        unsafe { self.moved(block, layout, size) }
    }
}

impl Allocator {
    /// Copies a block to a new place.
    ///
    /// # Safety
    /// As for `realloc`.
    #[cold]
    #[inline(never)]
    unsafe fn moved(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: `size` is valid for that alignment by contract. The new block doesn't overlap the old one, and both
        // have as many bytes as are copied.
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
    /// Which units are in use; accessed under the lock only.
    used: UnsafeCell<[bool; UNITS]>,
    locked: AtomicBool,
}

// SAFETY: only the holder of the lock accesses `used`; each unit of `bytes` belongs to whoever it was given to.
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
        // SAFETY: the search found enough units in a row from `from` on, so the address is within `bytes`.
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
        // SAFETY: the lock is ours, and `work` neither panics nor allocates: it only searches and fills an array.
        let done = work(unsafe { &mut *self.used.get() });
        self.locked.store(false, Ordering::Release);
        done
    }
}
