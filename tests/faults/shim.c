/* malloc for LD_PRELOAD: the allocations that one library asks for are counted, and a chosen one fails.

Rust's allocations are not seen by `_testcapi.set_nomemory`. Which library asks is told by the return address. glibc only: its own
functions are there under a second name. */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static uintptr_t from, until;
static size_t least, passed;
static atomic_long before_fault = -1, faults, seen, living;

/* Whose calls count, by the addresses of its code; how large an allocation has to be; and a size that never fails. */
void faults_of(uintptr_t begin, uintptr_t end, size_t size, size_t pass) {
    from = begin, until = end, least = size, passed = pass;
}

/* The first `count` calls from now on succeed, and the next `many` fail. */
void faults_arm(long count, long many) { faults = many, seen = 0, before_fault = count; }

/* None fails any more. How many calls there were. */
long faults_disarm(void) { before_fault = -1; return seen; }

/* How many blocks the library has that it has not given back. */
long faults_living(void) { return living; }

static int fails(void *caller, size_t size) {
    uintptr_t at = (uintptr_t)caller;
    if (at < from || at >= until || size < least || size == passed || before_fault < 0)
        return 0;
    long number = atomic_fetch_add(&seen, 1);
    return number >= before_fault && number < before_fault + faults;
}

static void *counted(void *caller, void *block) {
    uintptr_t at = (uintptr_t)caller;
    if (block && at >= from && at < until)
        atomic_fetch_add(&living, 1);
    return block;
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t size) {
    if (fails(CALLER, size)) { errno = ENOMEM; return NULL; }
    return counted(CALLER, __libc_malloc(size));
}

void *calloc(size_t count, size_t size) {
    if (fails(CALLER, count * size)) { errno = ENOMEM; return NULL; }
    return counted(CALLER, __libc_calloc(count, size));
}

void *realloc(void *block, size_t size) {
    if (fails(CALLER, size)) { errno = ENOMEM; return NULL; }
    void *moved = __libc_realloc(block, size);
    if (!block)
        counted(CALLER, moved);
    return moved;
}

void *memalign(size_t align, size_t size) {
    if (fails(CALLER, size)) { errno = ENOMEM; return NULL; }
    return counted(CALLER, __libc_memalign(align, size));
}

void *aligned_alloc(size_t align, size_t size) {
    if (fails(CALLER, size)) { errno = ENOMEM; return NULL; }
    return counted(CALLER, __libc_memalign(align, size));
}

int posix_memalign(void **block, size_t align, size_t size) {
    if (fails(CALLER, size)) return ENOMEM;
    void *made = counted(CALLER, __libc_memalign(align, size));
    if (!made) return ENOMEM;
    *block = made;
    return 0;
}

void free(void *block) {
    uintptr_t at = (uintptr_t)CALLER;
    if (block && at >= from && at < until)
        atomic_fetch_sub(&living, 1);
    __libc_free(block);
}
