// Counts the blocks that the calling thread takes from the heap, by standing in for malloc and its kin.
unsigned long bench_allocation_count(void);
