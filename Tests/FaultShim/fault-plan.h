// A library to be preloaded: it makes file-system calls in one directory fail, do less than requested, take long, or be the
// last of the process. It counts them, so that its driver can go through all of them.
#pragma once
#include <errno.h>
#include <stdbool.h>

/// A kind of call; a plan names a set of them, one bit each.
enum fault_call {
    FAULT_OPEN, FAULT_READ, FAULT_WRITE, FAULT_SYNC, FAULT_RENAME, FAULT_LINK, FAULT_UNLINK, FAULT_TRUNCATE, FAULT_ALLOCATE,
    FAULT_CLOSE, FAULT_STAT, FAULT_MAKE, FAULT_LIST, FAULT_LOCK, FAULT_MAP, FAULT_COPY, FAULT_TIMES, FAULT_DUPLICATE,
    FAULT_CALL_COUNT
};

/// The effect on a call.
enum fault_action {
    /// None; calls are counted.
    FAULT_COUNT,
    /// It is not made, and returns the error number `value`. (A descriptor is still closed, as Linux does.)
    FAULT_FAIL,
    /// A read or write takes at most `value` bytes.
    FAULT_SHORT,
    /// The process ends before it: by SIGKILL, or with the exit status `value` if that is not 0.
    FAULT_DIE_BEFORE,
    /// The process ends after it.
    FAULT_DIE_AFTER,
    /// The process ends when half of the bytes have been written; before a call that writes nothing.
    FAULT_DIE_WITHIN,
    /// It is made `value` microseconds later.
    FAULT_DELAY
};

/// Begins a plan: the calls of the set `calls` (a bit for each kind) in `directory`, and on itself, are counted from 1, and
/// those from `first` to `last` are disturbed.
void fault_begin(const char *directory, long first, long last, int action, long value, unsigned long calls);

/// Ends the plan. Returns the number of calls.
long fault_end(void);

/// Returns the kind of the first disturbed call, -1 if there was none.
int fault_disturbed(void);

/// Returns the effect on the current call: `FAULT_COUNT` for none. Does not return if the process is to end before it.
int fault_decide(enum fault_call call, long *value);

/// Ends the process, if the plan says so after a call.
void fault_finish(int action, long value);

/// Returns whether a descriptor, or a path relative to an open directory, belongs to the plan's directory.
bool fault_has_descriptor(int fd);
bool fault_has_path(int directory, const char *path);

/// Returns the function that would have been called without this library.
#define FAULT_REAL(name) \
    ({ \
        static __typeof__(&name) real_; \
        if (!real_) real_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
        real_; \
    })

/// Makes a call that belongs to the plan if `concerns`, and returns its result.
#define FAULT_CALL(call, concerns, expression) \
    do { \
        long value_ = 0; \
        int action_ = (concerns) ? fault_decide(call, &value_) : FAULT_COUNT; \
        if (action_ == FAULT_FAIL) { \
            errno = (int)value_; \
            return (__typeof__(expression))-1; \
        } \
        __typeof__(expression) result_ = expression; \
        fault_finish(action_, value_); \
        return result_; \
    } while (0)
