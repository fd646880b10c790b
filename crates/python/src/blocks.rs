//! Large blocks of memory: the pages that they come in.

/// From this size on new memory is asked of the system in large pages, as NumPy asks for its arrays'.
pub const LARGE: usize = 4 << 20;

/// Says to the system that a new block is worth large pages, where it wants to be told. The block then comes in pieces of 2 MB instead of
/// 4 kB.
#[inline(always)]
pub fn in_large_pages(start: *mut u8, len: usize) {
    if cfg!(target_os = "linux") && len >= LARGE {
        advise(start, len);
    }
}

#[cold]
#[inline(never)]
fn advise(start: *mut u8, len: usize) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        // From the page on which the block begins: a block of which a part is another kind of memory can't be moved, only copied.
        let before = start as usize % PAGE;
        // SAFETY: the advice changes no memory's content, and is refused where there is no memory. Without it all is as it was.
        unsafe { libc::madvise(start.wrapping_sub(before).cast(), before + len, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, len);
}
