#include "Errors.h"

#include <jerror.h>
#include <string.h>

_Noreturn void error_trap_raise(struct error_trap *trap, enum webimage_jpeg_status status, const char *message) {
    trap->status = status;
    snprintf(trap->message, sizeof trap->message, "%s", message);
    longjmp(trap->target, 1);
}

static _Noreturn void raise_current(j_common_ptr info) {
    struct error_trap *trap = (struct error_trap *)info->err;
    switch (info->err->msg_code) {
    case JERR_OUT_OF_MEMORY: trap->status = webimage_jpeg_no_memory; break;
    // Far from the end of the bytes libjpeg-turbo decodes such codes as 0 without a warning.
    case JWRN_HUFF_BAD_CODE: trap->status = webimage_jpeg_bad_code; break;
    default: trap->status = webimage_jpeg_bad_data;
    }
    info->err->format_message(info, trap->message);
    longjmp(trap->target, 1);
}

/// Counts warnings; the decoder checks relevant ones itself.
static void pass_over(j_common_ptr info, int level) {
    if (level < 0) { info->err->num_warnings++; }
}

static void print_nothing(j_common_ptr info) { (void)info; }

struct jpeg_error_mgr *error_trap_install(struct error_trap *trap) {
    jpeg_std_error(&trap->manager);
    trap->manager.error_exit = raise_current;
    trap->manager.emit_message = pass_over;
    trap->manager.output_message = print_nothing;
    trap->status = webimage_jpeg_ok;
    trap->message[0] = 0;
    return &trap->manager;
}
