// Stands in for malloc and its kin, and counts.
#ifndef C_ALLOCATION_COUNTER_H
#define C_ALLOCATION_COUNTER_H

// Blocks that the calling thread has taken from the heap.
unsigned long bench_allocation_count(void);

// Blocks that all threads have taken from the heap.
unsigned long bench_process_allocation_count(void);

// Bytes of the heap that are in use in the whole process, and the most there have been since the last reset. Sizes are
// those of the blocks that were given, which can be larger than what was asked for.
long bench_heap_bytes(void);
long bench_heap_peak_bytes(void);
void bench_heap_reset_peak(void);

#endif
