#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/socket.h>
#include <microhttpd.h>

// libmicrohttpd's variadic functions, and system calls of a server that Swift cannot call.

/// The settings of a daemon.
struct webimage_http_settings {
    /// A listening socket; the daemon closes it when it is stopped, unless it was quiesced.
    int listener;
    /// The number of threads, each with an own epoll.
    unsigned int loop_count;
    unsigned int connection_limit;
    /// Connections of one address; 0 for no limit.
    unsigned int address_limit;
    /// Seconds without activity after which a connection is closed.
    unsigned int idle_seconds;
    /// Bytes for the head of a request.
    size_t head_byte_count;
    void *context;
    void *(*begin)(void *context, const char *target, struct MHD_Connection *connection);
    enum MHD_Result (*handle)(void *context, struct MHD_Connection *connection, const char *path, const char *method,
                              const char *version, const char *body, size_t *body_byte_count, void **request);
    void (*end)(void *context, struct MHD_Connection *connection, void **request, enum MHD_RequestTerminationCode code);
    void (*connect)(void *context, struct MHD_Connection *connection, void **peer,
                    enum MHD_ConnectionNotificationCode code);
};

// How Swift imports the constants depends on the version of the library.
static inline enum MHD_Result webimage_http_result(bool is_well) { return is_well ? MHD_YES : MHD_NO; }
static inline bool webimage_http_is_complete(enum MHD_RequestTerminationCode code) {
    return code == MHD_REQUEST_TERMINATED_COMPLETED_OK;
}
static inline bool webimage_http_is_start(enum MHD_ConnectionNotificationCode code) {
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}

/// Starts a daemon; NULL if it cannot be started, with errno.
struct MHD_Daemon *webimage_http_start(const struct webimage_http_settings *settings);

/// Accepts the connections that wait at a listener which the daemon does not use any more.
void webimage_http_adopt_waiting(struct MHD_Daemon *daemon, int listener);

/// Asks the scheduler to run this thread soon after it was woken, for short times (0.1 ms), although other threads compute. Only the first call
/// of a thread does something. Linux 6.12 and newer do it.
void webimage_http_ask_for_latency(void);

/// The number of open connections.
unsigned int webimage_http_connection_count(struct MHD_Daemon *daemon);

/// The socket of a connection; -1 if it is unknown.
int webimage_http_socket(struct MHD_Connection *connection);

/// The value that the connect callback has set for the connection; NULL if there is none.
void *webimage_http_peer(struct MHD_Connection *connection);

/// Writes the address of the client as text: of IPv4 and IPv6 without the port, and empty for others. The size must be 64 at least.
void webimage_http_peer_name(struct MHD_Connection *connection, char *text, size_t size);

/// A field of a request. The bytes are valid as long as the request.
struct webimage_http_field {
    const char *name;
    size_t name_count;
    const char *value;
    size_t value_count;
};

/// Returns the number of fields of a request, of which at most `limit` are written.
size_t webimage_http_fields(struct MHD_Connection *connection, struct webimage_http_field *fields, size_t limit);

/// Makes a response with a body, which `release` is called for in the end; NULL without memory.
struct MHD_Response *webimage_http_response(const void *bytes, size_t count, void (*release)(void *owner), void *owner);

/// Makes a response whose body is a part of a file, which is sent by the kernel (`sendfile`); NULL without memory or descriptors.
struct MHD_Response *webimage_http_file_response(int file, uint64_t offset, uint64_t count);

/// Returns false if reading the first bytes of a file would wait for the disk.
bool webimage_http_is_resident(int file, uint64_t count);

/// Opens a TCP socket that listens on an address, or a unix socket with a path; -1 with errno. Names are not resolved.
int webimage_http_listen_tcp(const char *address, uint16_t port, int backlog);
int webimage_http_listen_unix(const char *path, mode_t mode, int backlog);
/// Opens a file for reading below a directory: neither ".." nor a symbolic link leads out of it; -1 with errno.
int webimage_http_open_beneath(int directory, const char *path);

/// Sends a state such as "READY=1" to the service manager (sd_notify); false without one.
bool webimage_http_notify(const char *state);
/// Takes the listening sockets that the service manager has opened, from 3 on; returns how many. Only the first call finds any.
int webimage_http_given_sockets(void);

/// Waits for clients that leave while their requests wait: an epoll of sockets.
int webimage_http_departures_open(void);
/// Adds a socket, which `number` is returned for once its client has left.
bool webimage_http_departures_add(int departures, int socket, uint64_t number);
void webimage_http_departures_remove(int departures, int socket);
/// Waits until clients have left; returns how many numbers it has written, or -1.
int webimage_http_departures_wait(int departures, uint64_t *numbers, int limit, int milliseconds);
