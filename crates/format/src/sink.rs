//! Where a writer puts its bytes.

use crate::memory::Vec;

/// A growing output buffer.
///
/// [`memory::Vec`](Vec) is the plain one; a host may bring its own (CPython's `bytes`, filled in place).
pub trait Sink {
    /// Appends `bytes`.
    fn put(&mut self, bytes: &[u8]);

    /// Appends a block whose size the compiler knows: a tag with its payload.
    fn put_array<const N: usize>(&mut self, bytes: [u8; N]);

    /// Appends `head`, then `bytes`: most values are a tag and a few bytes.
    fn put_tagged(&mut self, head: u8, bytes: &[u8]);

    /// Appends `head`, then `bytes`: the same for values whose head is longer than a byte.
    fn put_headed<const N: usize>(&mut self, head: [u8; N], bytes: &[u8]) {
        self.put_array(head);
        self.put(bytes);
    }

    /// Appends `head`, `bytes` and a zero: text that ends with one.
    fn put_closed<const N: usize>(&mut self, head: [u8; N], bytes: &[u8]) {
        self.put_headed(head, bytes);
        self.put_array([0]);
    }

    /// Appends the first `len` bytes of a block: few, of which the compiler knows the most that there may be.
    fn put_part<const N: usize>(&mut self, block: [u8; N], len: usize);

    /// How many bytes were appended.
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes back everything after the first `len` bytes.
    fn truncate(&mut self, len: usize);

    /// What was appended after the first `from` bytes, to be patched.
    fn written(&mut self, from: usize) -> &mut [u8];
}

/// Takes bytes and keeps none: for a walk that only looks at what would be written.
#[derive(Debug, Default, Clone, Copy)]
pub struct Nowhere;

impl Sink for Nowhere {
    fn put(&mut self, _bytes: &[u8]) {}

    fn put_array<const N: usize>(&mut self, _bytes: [u8; N]) {}

    fn put_tagged(&mut self, _head: u8, _bytes: &[u8]) {}

    fn put_part<const N: usize>(&mut self, _block: [u8; N], _len: usize) {}

    fn len(&self) -> usize {
        0
    }

    fn truncate(&mut self, _len: usize) {}

    fn written(&mut self, _from: usize) -> &mut [u8] {
        &mut []
    }
}

macro_rules! plain {
    ($buffer:ty) => {
        impl Sink for $buffer {
            fn put(&mut self, bytes: &[u8]) {
                self.extend_from_slice(bytes);
            }

            fn put_array<const N: usize>(&mut self, bytes: [u8; N]) {
                self.extend_from_slice(&bytes);
            }

            fn put_tagged(&mut self, head: u8, bytes: &[u8]) {
                self.reserve(1 + bytes.len());
                self.push(head);
                self.extend_from_slice(bytes);
            }

            fn put_headed<const N: usize>(&mut self, head: [u8; N], bytes: &[u8]) {
                self.reserve(N + bytes.len());
                self.extend_from_slice(&head);
                self.extend_from_slice(bytes);
            }

            fn put_part<const N: usize>(&mut self, block: [u8; N], len: usize) {
                self.extend_from_slice(&block[..len]);
            }

            fn len(&self) -> usize {
                <$buffer>::len(self)
            }

            fn truncate(&mut self, len: usize) {
                <$buffer>::truncate(self, len);
            }

            fn written(&mut self, from: usize) -> &mut [u8] {
                &mut self[from..]
            }
        }
    };
}

plain!(Vec<u8>);
// For those who would rather have the process end where memory does.
plain!(std::vec::Vec<u8>);

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// What each call appends, after what was there before.
    #[test]
    fn every_way_to_put() {
        type Call = fn(&mut Vec<u8>);
        let calls: [(Call, &[u8]); 10] = [
            (|out| out.put(b"ab"), b"ab"),
            (|out| out.put_array([1, 2]), &[1, 2]),
            (|out| out.put_tagged(7, b"ab"), b"\x07ab"),
            (|out| out.put_headed([7, 8], b"ab"), b"\x07\x08ab"),
            (|out| out.put_closed([7, 8], b"ab"), b"\x07\x08ab\0"),
            (|out| out.put_closed([], b"ab"), b"ab\0"),
            (|out| out.put_closed([7], b""), b"\x07\0"),
            (|out| out.put_part([1, 2, 3], 0), &[]),
            (|out| out.put_part([1, 2, 3], 2), &[1, 2]),
            (|out| out.put_part([1, 2, 3], 3), &[1, 2, 3]),
        ];
        for (call, appended) in calls {
            let mut out = b"before".to_vec();
            call(&mut out);
            assert_eq!(out, [b"before", appended].concat());
            assert_eq!(Sink::len(&out), out.len());
            Sink::truncate(&mut out, 3);
            assert_eq!(out, b"bef");
        }
        let mut out = b"before".to_vec();
        out.written(4)[0] = b'!';
        assert_eq!(out, b"befo!e");
        assert!(!Sink::is_empty(&out) && Sink::is_empty(&Vec::new()));
    }
}
