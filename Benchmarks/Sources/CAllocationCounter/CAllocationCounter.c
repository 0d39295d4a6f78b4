#include "CAllocationCounter.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

// glibc's own, under the names that stay when a program defines the public ones.
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static __thread unsigned long count;
static atomic_ulong process_count;
static atomic_long in_use, peak;

unsigned long bench_allocation_count(void) { return count; }

unsigned long bench_process_allocation_count(void) { return atomic_load(&process_count); }

long bench_heap_bytes(void) { return atomic_load(&in_use); }

long bench_heap_peak_bytes(void) { return atomic_load(&peak); }

void bench_heap_reset_peak(void) { atomic_store(&peak, atomic_load(&in_use)); }

static void *taken(void *block) {
    count++;
    atomic_fetch_add_explicit(&process_count, 1, memory_order_relaxed);
    long size = (long)malloc_usable_size(block);
    long now = atomic_fetch_add_explicit(&in_use, size, memory_order_relaxed) + size;
    long most = atomic_load_explicit(&peak, memory_order_relaxed);
    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now)) {}
    return block;
}

static void given(void *block) {
    atomic_fetch_sub_explicit(&in_use, (long)malloc_usable_size(block), memory_order_relaxed);
}

void *malloc(size_t size) { return taken(__libc_malloc(size)); }

void *calloc(size_t number, size_t size) { return taken(__libc_calloc(number, size)); }

void *realloc(void *old, size_t size) {
    long before = (long)malloc_usable_size(old);
    void *block = __libc_realloc(old, size);
    // A failure leaves the old block as it was, except that asking for nothing frees it.
    if (block || size == 0) atomic_fetch_sub_explicit(&in_use, before, memory_order_relaxed);
    return taken(block);
}

void *aligned_alloc(size_t alignment, size_t size) { return taken(__libc_memalign(alignment, size)); }

void *memalign(size_t alignment, size_t size) { return taken(__libc_memalign(alignment, size)); }

int posix_memalign(void **result, size_t alignment, size_t size) {
    void *block = __libc_memalign(alignment, size);
    if (!block) return ENOMEM;
    *result = taken(block);
    return 0;
}

void free(void *block) {
    given(block);
    __libc_free(block);
}
