#pragma once
#include <stdint.h>

/// Bytes of address space that the picture at hand was allowed.
extern uint64_t webimage_sandbox_allowed;
