// libcurl, with wrappers for what Swift cannot call: variadic functions, one wrapper for each type of argument, and macros.
#pragma once
#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

/// The version whose functions are used; a lower number than the headers' tests the fallbacks for older versions.
#ifndef WEBIMAGE_CURL_VERSION
#define WEBIMAGE_CURL_VERSION LIBCURL_VERSION_NUM
#endif

#if LIBCURL_VERSION_NUM < 0x074D00
/// The server requires a client certificate. Older libraries never return this.
static const CURLcode CURLE_SSL_CLIENTCERT = (CURLcode)98;
#endif

static inline CURLcode webimage_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode webimage_curl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode webimage_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode webimage_curl_set_bytes(CURL *easy, CURLoption option, const void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode webimage_curl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode webimage_curl_set_write(
    CURL *easy, CURLoption option, size_t (*function)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(easy, option, function);
}

static inline CURLcode webimage_curl_set_progress(
    CURL *easy, int (*function)(void *, curl_off_t, curl_off_t, curl_off_t, curl_off_t)) {
    return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, function);
}

static inline CURLcode webimage_curl_set_debug(
    CURL *easy, int (*function)(CURL *, curl_infotype, char *, size_t, void *)) {
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, function);
}

/// Returns whether a function can be called before a request is sent. If not, the log reports the time afterwards.
static inline bool webimage_curl_calls_before_request(void) { return WEBIMAGE_CURL_VERSION >= 0x075000; }

/// Sets a function that is called with the address of the connection, new or reused, before a request is sent over it. Before libcurl 7.80 there is
/// no such callback: see `webimage_curl_set_unchecked_connections`.
static inline void webimage_curl_set_before_request(
    CURL *easy, int (*function)(void *, char *, char *, int, int)) {
#if WEBIMAGE_CURL_VERSION >= 0x075000
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
#else
    (void)easy, (void)function;
#endif
}

/// Sets the context of that function.
static inline void webimage_curl_set_before_request_context(CURL *easy, void *context) {
#if WEBIMAGE_CURL_VERSION >= 0x075000
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
#else
    (void)easy, (void)context;
#endif
}

/// Replaces that function where it is not available: with `forbids_reuse` a transfer gets a new connection, whose address the socket callback checks,
/// and closes it at the end.
static inline void webimage_curl_set_unchecked_connections(CURL *easy, bool forbids_reuse) {
#if WEBIMAGE_CURL_VERSION >= 0x075000
    (void)easy, (void)forbids_reuse;
#else
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, forbids_reuse ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, forbids_reuse ? 1L : 0L);
#endif
}

/// Allows only HTTP and HTTPS.
static inline void webimage_curl_allow_only_http(CURL *easy) {
#if WEBIMAGE_CURL_VERSION >= 0x075500
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

/// Makes a transfer end without waiting for the thread of its DNS lookup. Before libcurl 7.87 it does wait.
static inline void webimage_curl_quit_look_ups(CURL *easy) {
#if WEBIMAGE_CURL_VERSION >= 0x075700
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#else
    (void)easy;
#endif
}

/// Opens a socket that child processes do not inherit, unlike libcurl's own.
static inline curl_socket_t webimage_curl_open_socket(const struct curl_sockaddr *address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static inline CURLcode webimage_curl_set_close_socket(CURL *easy, int (*function)(void *, curl_socket_t)) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, function);
}

static inline CURLcode webimage_curl_set_open_socket(
    CURL *easy, curl_socket_t (*function)(void *, curlsocktype, struct curl_sockaddr *)) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, function);
}

/// Returns the number of bytes of an address, 4 or 16, and stores them in network order with the port; 0 for one that is not an internet
/// address.
static inline int webimage_curl_address(const struct curl_sockaddr *address, unsigned char *bytes, int *port) {
    const void *place = &address->addr;
    if (address->family == AF_INET && address->addrlen >= sizeof(struct sockaddr_in)) {
        struct sockaddr_in v4;
        memcpy(&v4, place, sizeof v4);
        memcpy(bytes, &v4.sin_addr, 4);
        *port = ntohs(v4.sin_port);
        return 4;
    }
    if (address->family == AF_INET6 && address->addrlen >= sizeof(struct sockaddr_in6)) {
        struct sockaddr_in6 v6;
        memcpy(&v6, place, sizeof v6);
        memcpy(bytes, &v6.sin6_addr, 16);
        *port = ntohs(v6.sin6_port);
        return 16;
    }
    return 0;
}

static inline long webimage_curl_get_long(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

static inline curl_off_t webimage_curl_get_offset(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

static inline void *webimage_curl_get_private(CURL *easy) {
    char *value = NULL;
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? (void *)value : NULL;
}

static inline CURLMcode webimage_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLSHcode webimage_curl_share_cookies(CURLSH *share) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
}

/// Returns the next finished transfer: 1 with its handle and result, 0 when there is none.
static inline int webimage_curl_next_finished(CURLM *multi, CURL **easy, CURLcode *result) {
    int waiting = 0;
    for (CURLMsg *message = curl_multi_info_read(multi, &waiting); message;
         message = curl_multi_info_read(multi, &waiting)) {
        if (message->msg != CURLMSG_DONE) continue;
        *easy = message->easy_handle;
        *result = message->data.result;
        return 1;
    }
    return 0;
}

static const long webimage_curl_auth_basic_and_digest = (long)(CURLAUTH_BASIC | CURLAUTH_DIGEST);
/// CURL_PREREQFUNC_OK and CURL_PREREQFUNC_ABORT, which older headers lack.
static const int webimage_curl_send_request = 0;
static const int webimage_curl_abort_request = 1;
static const long webimage_curl_http_2_over_tls = CURL_HTTP_VERSION_2TLS;
static const long webimage_curl_http_1_1 = CURL_HTTP_VERSION_1_1;
static const long webimage_curl_tls_1_2 = CURL_SSLVERSION_TLSv1_2;
