#pragma once
#include <stdint.h>

/// The number of bytes of address space that the current image was allowed.
extern uint64_t webimage_sandbox_allowed;
