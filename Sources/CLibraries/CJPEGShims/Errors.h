// Shared by decoder and encoder: errors become a longjmp to the entry point.
#pragma once
#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>
#include <setjmp.h>

#include "CJPEGShims.h"

struct error_trap {
    /// First, because libjpeg passes pointers to it.
    struct jpeg_error_mgr manager;
    jmp_buf target;
    enum webimage_jpeg_status status;
    char message[JMSG_LENGTH_MAX];
};

/// Installs the handlers.
struct jpeg_error_mgr *error_trap_install(struct error_trap *trap);
/// Jumps to the entry point with a status of this library.
_Noreturn void error_trap_raise(struct error_trap *trap, enum webimage_jpeg_status status, const char *message);
