//! Where a writer puts its bytes.

/// A growing output buffer.
///
/// `Vec<u8>` is the plain one; a host may bring its own (CPython's `bytes`, filled in place).
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

impl Sink for Vec<u8> {
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

    fn len(&self) -> usize {
        self.len()
    }

    fn truncate(&mut self, len: usize) {
        self.truncate(len);
    }

    fn written(&mut self, from: usize) -> &mut [u8] {
        &mut self[from..]
    }
}
