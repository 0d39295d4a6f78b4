// libssl and libcrypto: TLS over bytes that the caller sends and receives, so that OpenSSL never touches a socket, and message authentication codes.
#pragma once
#include <stdbool.h>
#include <stddef.h>

/// The certificates of a client. Not changed after it was made, and then for several threads.
typedef struct ssl_ctx_st webimage_tls_context;
/// A connection. For one thread at a time.
typedef struct webimage_tls webimage_tls;

/// Makes a context that requires certificates of known authorities: those of a file in PEM, or else those of the system. A certificate of the client and
/// its key are optional; without the name of a key file, the key is in the certificate's. Returns NULL with the reason in `message` if a file cannot be
/// used.
webimage_tls_context *webimage_tls_context_make(
    const char *authority_file, const char *certificate_file, const char *key_file, char *message, size_t size);
void webimage_tls_context_free(webimage_tls_context *context);

/// Makes a connection whose server must have a certificate for `host`, a name or an address. Returns NULL without memory.
webimage_tls *webimage_tls_make(webimage_tls_context *context, const char *host);
void webimage_tls_free(webimage_tls *tls);

/// Takes bytes that have arrived; false without memory.
bool webimage_tls_receive(webimage_tls *tls, const void *bytes, size_t count);
/// Moves bytes that are to be sent to `buffer` and returns their number.
size_t webimage_tls_take(webimage_tls *tls, void *buffer, size_t size);

/// Continues the handshake: 1 at its end, 0 if more bytes must arrive, -1 if it has failed.
int webimage_tls_shake_hands(webimage_tls *tls);
/// Decrypts bytes and returns their number: 0 if more must arrive, -1 if the server has ended the connection, -2 after a failure.
long webimage_tls_read(webimage_tls *tls, void *buffer, size_t size);
/// Encrypts all bytes; false after a failure.
bool webimage_tls_write(webimage_tls *tls, const void *bytes, size_t count);

/// Writes the reason of the last failure. Returns whether the certificate was refused.
bool webimage_tls_failure(webimage_tls *tls, char *message, size_t size);

/// Writes the 32 bytes of HMAC-SHA256; false if the system's policy does not allow it.
bool webimage_hmac_sha256(const void *key, size_t key_count, const void *bytes, size_t count, void *code);
/// Writes the 32 bytes of SHA-256; false if the system's policy does not allow it.
bool webimage_sha256(const void *bytes, size_t count, void *hash);
