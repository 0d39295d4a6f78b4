#define _GNU_SOURCE
#include "CIsolation.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int webimage_memory_create(size_t byte_count) {
    int descriptor = memfd_create("webimage", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0) return -errno;
    if (ftruncate(descriptor, (off_t)byte_count) == 0) return descriptor;
    int error = errno;
    close(descriptor);
    return -error;
}

void *webimage_memory_map(int descriptor, size_t byte_count) {
    void *base = mmap(NULL, byte_count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (base == MAP_FAILED) return NULL;
    madvise(base, byte_count, MADV_HUGEPAGE);
    // Populating all pages at once takes half the time of single page faults. Without kernel support they are faulted in one by
    // one.
    madvise(base, byte_count, 23 /* MADV_POPULATE_WRITE */);
    return base;
}

const void *webimage_memory_map_readonly(int descriptor, size_t byte_count) {
    void *base = mmap(NULL, byte_count, PROT_READ, MAP_SHARED | MAP_POPULATE, descriptor, 0);
    return base == MAP_FAILED ? NULL : base;
}

const void *webimage_memory_map_private(int descriptor, size_t byte_count) {
    // A private mapping shares the same pages. Before Linux 6.7, a shared mapping of a writable descriptor prevents a seal, and a
    // seal prevents such a mapping.
    void *base = mmap(NULL, byte_count, PROT_READ, MAP_PRIVATE | MAP_POPULATE, descriptor, 0);
    return base == MAP_FAILED ? NULL : base;
}

static const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

int webimage_memory_seal(int descriptor) { return fcntl(descriptor, F_ADD_SEALS, seals) == 0 ? 0 : -errno; }

ssize_t webimage_memory_sealed_size(int descriptor) {
    struct stat status;
    int found = fcntl(descriptor, F_GET_SEALS);
    // Only shared memory has seals.
    if (found < 0) return -errno;
    if ((found & (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)) != (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)) return -EPERM;
    if (fstat(descriptor, &status) != 0) return -errno;
    return S_ISREG(status.st_mode) ? status.st_size : -EINVAL;
}

bool webimage_memory_is_whole(int descriptor, size_t byte_count) {
    // On failure, memory counts as having no pages. The end counts as a hole, too.
    off_t hole = lseek(descriptor, 0, SEEK_HOLE);
    return hole >= 0 && (size_t)hole >= byte_count;
}

int webimage_memory_fill(int descriptor, size_t byte_count) {
    if (webimage_memory_is_whole(descriptor, byte_count)) return 0;
    int result;
    do result = fallocate(descriptor, 0, 0, (off_t)byte_count);
    while (result < 0 && errno == EINTR);
    return result == 0 ? 0 : -errno;
}

int webimage_memory_write(int descriptor, const void *bytes, size_t count) {
    size_t done = 0;
    while (done < count) {
        ssize_t written = pwrite(descriptor, (const char *)bytes + done, count - done, (off_t)done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return written == 0 ? -EIO : -errno;
        done += (size_t)written;
    }
    return 0;
}
