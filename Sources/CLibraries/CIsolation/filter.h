#pragma once
#include <stdbool.h>

/// Lets through what decoding needs, and nothing else: in every thread, for ever. False where the kernel has no such filters.
bool webimage_filter_enter(bool reads_files);
