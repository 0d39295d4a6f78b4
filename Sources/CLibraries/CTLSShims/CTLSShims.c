#include "CTLSShims.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct webimage_tls {
    SSL *ssl;
    /// What has arrived, and what is to be sent. Both belong to `ssl`.
    BIO *arrived, *outgoing;
};

static void copy(char *message, size_t size, const char *text) { snprintf(message, size, "%s", text); }

/// The first error is the cause of the others.
static void describe(char *message, size_t size) {
    const unsigned long code = ERR_peek_error();
    const char *text = code && !ERR_SYSTEM_ERROR(code) ? ERR_reason_error_string(code) : NULL;
    if (text) {
        copy(message, size, text);
    } else if (code && ERR_SYSTEM_ERROR(code)) {
        copy(message, size, strerror(ERR_GET_REASON(code)));
    } else {
        copy(message, size, "the connection ended");
    }
}

/// Keys with a password are refused: nobody is there to be asked.
static int no_password(char *buffer, int size, int is_writing, void *context) {
    (void)buffer, (void)size, (void)is_writing, (void)context;
    return -1;
}

webimage_tls_context *webimage_tls_context_make(
    const char *authority_file, const char *certificate_file, const char *key_file, char *message, size_t size) {
    // Threads may still use it while the process exits.
    OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
    ERR_clear_error();
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (!context) {
        describe(message, size);
        return NULL;
    }
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, NULL);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_default_passwd_cb(context, no_password);
    const char *key = key_file ? key_file : certificate_file;
    const bool is_complete =
        (authority_file ? SSL_CTX_load_verify_locations(context, authority_file, NULL) : SSL_CTX_set_default_verify_paths(context)) == 1
        && (!certificate_file || SSL_CTX_use_certificate_chain_file(context, certificate_file) == 1)
        && (!key || SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1)
        && (!certificate_file || SSL_CTX_check_private_key(context) == 1);
    if (is_complete) return context;
    describe(message, size);
    SSL_CTX_free(context);
    ERR_clear_error();
    return NULL;
}

void webimage_tls_context_free(webimage_tls_context *context) { SSL_CTX_free(context); }

webimage_tls *webimage_tls_make(webimage_tls_context *context, const char *host) {
    webimage_tls *tls = calloc(1, sizeof *tls);
    SSL *ssl = SSL_new(context);
    BIO *arrived = BIO_new(BIO_s_mem()), *outgoing = BIO_new(BIO_s_mem());
    if (!tls || !ssl || !arrived || !outgoing) {
        BIO_free(arrived);
        BIO_free(outgoing);
        SSL_free(ssl);
        free(tls);
        return NULL;
    }
    *tls = (webimage_tls){ ssl, arrived, outgoing };
    SSL_set_bio(ssl, arrived, outgoing);
    SSL_set_connect_state(ssl);
    X509_VERIFY_PARAM *rules = SSL_get0_param(ssl);
    X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (X509_VERIFY_PARAM_set1_ip_asc(rules, host) == 1) return tls;
    // Not an address. Without a host to verify, any certificate would do.
    const bool is_name = *host && X509_VERIFY_PARAM_set1_host(rules, host, 0) == 1
        && SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, (void *)host) == 1;
    if (is_name) {
        ERR_clear_error();
        return tls;
    }
    webimage_tls_free(tls);
    return NULL;
}

void webimage_tls_free(webimage_tls *tls) {
    if (!tls) return;
    SSL_free(tls->ssl);
    free(tls);
}

bool webimage_tls_receive(webimage_tls *tls, const void *bytes, size_t count) {
    return count <= INT_MAX && BIO_write(tls->arrived, bytes, (int)count) == (int)count;
}

size_t webimage_tls_take(webimage_tls *tls, void *buffer, size_t size) {
    const int count = BIO_read(tls->outgoing, buffer, size < INT_MAX ? (int)size : INT_MAX);
    return count > 0 ? (size_t)count : 0;
}

int webimage_tls_shake_hands(webimage_tls *tls) {
    ERR_clear_error();
    const int result = SSL_do_handshake(tls->ssl);
    if (result == 1) return 1;
    return SSL_get_error(tls->ssl, result) == SSL_ERROR_WANT_READ ? 0 : -1;
}

long webimage_tls_read(webimage_tls *tls, void *buffer, size_t size) {
    ERR_clear_error();
    const int result = SSL_read(tls->ssl, buffer, size < INT_MAX ? (int)size : INT_MAX);
    if (result > 0) return result;
    switch (SSL_get_error(tls->ssl, result)) {
        case SSL_ERROR_WANT_READ: return 0;
        case SSL_ERROR_ZERO_RETURN: return -1;
        default: return -2;
    }
}

bool webimage_tls_write(webimage_tls *tls, const void *bytes, size_t count) {
    if (count == 0) return true;
    ERR_clear_error();
    return count <= INT_MAX && SSL_write(tls->ssl, bytes, (int)count) == (int)count;
}

bool webimage_tls_failure(webimage_tls *tls, char *message, size_t size) {
    const long result = SSL_get_verify_result(tls->ssl);
    if (result == X509_V_OK) {
        describe(message, size);
        return false;
    }
    copy(message, size, X509_verify_cert_error_string(result));
    return true;
}

bool webimage_hmac_sha256(const void *key, size_t key_count, const void *bytes, size_t count, void *code) {
    unsigned int length = 0;
    return key_count <= INT_MAX && HMAC(EVP_sha256(), key, (int)key_count, bytes, count, code, &length) && length == 32;
}

bool webimage_sha256(const void *bytes, size_t count, void *hash) { return SHA256(bytes, count, hash) != NULL; }
