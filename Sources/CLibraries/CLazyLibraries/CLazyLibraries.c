// Shared libraries that are loaded when one of their functions is called for the first time.
//
// The programs call functions of a dozen libraries, and these need a hundred others. Loading them takes 40 ms and 20 MB, for programs that usually
// need a few. So each function in functions.h is defined here: it loads its library, looks the function up, and jumps to it; later calls jump at
// once. Callers notice nothing. The linker then needs none of these libraries for the program, and drops them (`--as-needed`).
//
// On other processors, and for versions of libraries that are not known here, nothing is defined, and libraries are linked as usual.
#define _GNU_SOURCE
#include "CLazyLibraries.h"

#if defined(__x86_64__) || defined(__aarch64__)
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

// The name of a library has the version of its binary interface, which must be that of the headers.
#if defined(WEBIMAGE_AVIF) && __has_include(<avif/avif.h>)
#include <avif/avif.h>
#if AVIF_VERSION_MAJOR == 0 && AVIF_VERSION_MINOR == 11
#define LAZY_AVIF "libavif.so.15"
#elif AVIF_VERSION_MAJOR == 1
#define LAZY_AVIF "libavif.so.16"
#endif
#endif
#if defined(WEBIMAGE_JPEGXL) && __has_include(<jxl/version.h>)
#include <jxl/version.h>
#if JPEGXL_MAJOR_VERSION == 0 && JPEGXL_MINOR_VERSION >= 7 && JPEGXL_MINOR_VERSION <= 11
#define JXL_TEXT(x) #x
#define JXL_STRING(x) JXL_TEXT(x)
#define LAZY_JXL "libjxl.so.0." JXL_STRING(JPEGXL_MINOR_VERSION)
#endif
#endif
#if defined(WEBIMAGE_TIFF) && __has_include(<tiffvers.h>)
#include <tiffvers.h>
#if TIFFLIB_VERSION >= 20221213 && TIFFLIB_VERSION < 20300000
#define LAZY_TIFF "libtiff.so.6"
#endif
#endif
#if defined(WEBIMAGE_RAW) && __has_include(<libraw/libraw_version.h>)
#include <libraw/libraw_version.h>
#if LIBRAW_SHLIB_CURRENT >= 20 && LIBRAW_SHLIB_CURRENT <= 24
#define RAW_TEXT(x) #x
#define RAW_STRING(x) RAW_TEXT(x)
#define LAZY_RAW "libraw_r.so." RAW_STRING(LIBRAW_SHLIB_CURRENT)
#endif
#endif
#if __has_include(<jconfig.h>)
#include <jconfig.h>
#if JPEG_LIB_VERSION == 62
#define LAZY_JPEG "libjpeg.so.62"
#elif JPEG_LIB_VERSION == 80
#define LAZY_JPEG "libjpeg.so.8"
#endif
#endif
#if __has_include(<openssl/opensslv.h>)
#include <openssl/opensslv.h>
#if OPENSSL_VERSION_MAJOR == 3
#define LAZY_CRYPTO "libcrypto.so.3"
#define LAZY_SSL "libssl.so.3"
#endif
#endif
#if defined(WEBIMAGE_HEIF)
#define LAZY_HEIF "libheif.so.1"
#endif
#if defined(WEBIMAGE_SVG)
#define LAZY_CAIRO "libcairo.so.2"
#define LAZY_GOBJECT "libgobject-2.0.so.0"
#define LAZY_RSVG "librsvg-2.so.2"
#endif
#define LAZY_CHAFA "libchafa.so.0"
#define LAZY_CURL "libcurl.so.4"
#define LAZY_GLIB "libglib-2.0.so.0"
#define LAZY_IDN2 "libidn2.so.0"
#define LAZY_ISAL "libisal.so.2"
#define LAZY_LCMS "liblcms2.so.2"
#define LAZY_PNG "libpng16.so.16"
#define LAZY_WEBP "libwebp.so.7"
#define LAZY_WEBPDEMUX "libwebpdemux.so.2"
#define LAZY_WEBPMUX "libwebpmux.so.3"

struct webimage_lazy_function {
    void *address;
    const char *library;
    const char *name;
};

// The slow half of each function; the fast one is in assembly.
__attribute__((visibility("hidden"))) void *webimage_lazy_find(struct webimage_lazy_function *function) {
    void *library = dlopen(function->library, RTLD_LAZY | RTLD_LOCAL);
    void *address = library ? dlsym(library, function->name) : NULL;
    if (!address) {
        // Nobody can go on, as when a library is missing at the start of a program.
        fprintf(stderr, "webimage: %s\n", dlerror());
        _exit(127);
    }
    __atomic_store_n(&function->address, address, __ATOMIC_RELEASE);
    return address;
}

// Each function jumps to its address if that is known. Otherwise it hands its record to `webimage_lazy_resolve`, which keeps all registers that
// arguments are passed in while it looks for the address. Objects tell the linker in this section which libraries they need; what follows is only
// for libraries that are needed. Objects come in the order of their paths, and those of C before those of Swift.
__asm__(
    ".pushsection .swift1_autolink_entries,\"e\",@progbits\n"
    ".asciz \"-Wl,--as-needed\"\n"
    ".popsection\n"
#if defined(__x86_64__)
    ".macro webimage_lazy_entry name\n"
    ".globl \\name\n"
    ".hidden \\name\n"
    ".type \\name, @function\n"
    ".p2align 4\n"
    "\\name:\n"
    "    endbr64\n"
    "    movq webimage_lazy_\\name(%rip), %r11\n"
    "    testq %r11, %r11\n"
    "    je 1f\n"
    "    jmp *%r11\n"
    "1:  leaq webimage_lazy_\\name(%rip), %r11\n"
    "    jmp webimage_lazy_resolve\n"
    ".size \\name, . - \\name\n"
    ".endm\n"
    ".text\n"
    "webimage_lazy_resolve:\n"
    "    pushq %rbp\n"
    "    movq %rsp, %rbp\n"
    "    pushq %rax\n"
    "    pushq %rdi\n"
    "    pushq %rsi\n"
    "    pushq %rdx\n"
    "    pushq %rcx\n"
    "    pushq %r8\n"
    "    pushq %r9\n"
    "    pushq %r10\n"
    "    subq $128, %rsp\n"
    "    movups %xmm0, (%rsp)\n"
    "    movups %xmm1, 16(%rsp)\n"
    "    movups %xmm2, 32(%rsp)\n"
    "    movups %xmm3, 48(%rsp)\n"
    "    movups %xmm4, 64(%rsp)\n"
    "    movups %xmm5, 80(%rsp)\n"
    "    movups %xmm6, 96(%rsp)\n"
    "    movups %xmm7, 112(%rsp)\n"
    "    movq %r11, %rdi\n"
    "    andq $-16, %rsp\n"
    "    call webimage_lazy_find\n"
    "    movq %rax, %r11\n"
    "    leaq -192(%rbp), %rsp\n"
    "    movups (%rsp), %xmm0\n"
    "    movups 16(%rsp), %xmm1\n"
    "    movups 32(%rsp), %xmm2\n"
    "    movups 48(%rsp), %xmm3\n"
    "    movups 64(%rsp), %xmm4\n"
    "    movups 80(%rsp), %xmm5\n"
    "    movups 96(%rsp), %xmm6\n"
    "    movups 112(%rsp), %xmm7\n"
    "    addq $128, %rsp\n"
    "    popq %r10\n"
    "    popq %r9\n"
    "    popq %r8\n"
    "    popq %rcx\n"
    "    popq %rdx\n"
    "    popq %rsi\n"
    "    popq %rdi\n"
    "    popq %rax\n"
    "    popq %rbp\n"
    "    jmp *%r11\n"
#else
    ".macro webimage_lazy_entry name\n"
    ".globl \\name\n"
    ".hidden \\name\n"
    ".type \\name, %function\n"
    ".p2align 2\n"
    "\\name:\n"
    "    hint #34\n"
    "    adrp x16, webimage_lazy_\\name\n"
    "    ldr x16, [x16, :lo12:webimage_lazy_\\name]\n"
    "    cbz x16, 1f\n"
    "    br x16\n"
    "1:  adrp x16, webimage_lazy_\\name\n"
    "    add x16, x16, :lo12:webimage_lazy_\\name\n"
    "    b webimage_lazy_resolve\n"
    ".size \\name, . - \\name\n"
    ".endm\n"
    ".text\n"
    ".p2align 2\n"
    "webimage_lazy_resolve:\n"
    "    stp x29, x30, [sp, #-224]!\n"
    "    mov x29, sp\n"
    "    stp x0, x1, [sp, #16]\n"
    "    stp x2, x3, [sp, #32]\n"
    "    stp x4, x5, [sp, #48]\n"
    "    stp x6, x7, [sp, #64]\n"
    "    str x8, [sp, #80]\n"
    "    stp q0, q1, [sp, #96]\n"
    "    stp q2, q3, [sp, #128]\n"
    "    stp q4, q5, [sp, #160]\n"
    "    stp q6, q7, [sp, #192]\n"
    "    mov x0, x16\n"
    "    bl webimage_lazy_find\n"
    "    mov x16, x0\n"
    "    ldp x0, x1, [sp, #16]\n"
    "    ldp x2, x3, [sp, #32]\n"
    "    ldp x4, x5, [sp, #48]\n"
    "    ldp x6, x7, [sp, #64]\n"
    "    ldr x8, [sp, #80]\n"
    "    ldp q0, q1, [sp, #96]\n"
    "    ldp q2, q3, [sp, #128]\n"
    "    ldp q4, q5, [sp, #160]\n"
    "    ldp q6, q7, [sp, #192]\n"
    "    ldp x29, x30, [sp], #224\n"
    "    br x16\n"
#endif
);

#define FUNCTION(soname, function) \
    __attribute__((visibility("hidden"))) struct webimage_lazy_function webimage_lazy_##function = {NULL, soname, #function}; \
    __asm__("webimage_lazy_entry " #function);
#include "functions.h"
#endif
