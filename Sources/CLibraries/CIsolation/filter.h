#pragma once
#include <stdbool.h>

/// Installs a filter that permits only the system calls that decoding needs: in every thread, permanently. Returns false if the
/// kernel has no such filters.
bool webimage_filter_enter(bool reads_files);
