#define _GNU_SOURCE
#include "CMicrohttpd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

// Targets are used as they were sent.
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return strlen(text);
}

struct MHD_Daemon *webimage_http_start(const struct webimage_http_settings *settings) {
    struct MHD_OptionItem options[16];
    size_t count = 0;
#define ADD(name, number, pointer) \
    options[count++] = (struct MHD_OptionItem){ name, (intptr_t)(number), (void *)(pointer) }
    ADD(MHD_OPTION_LISTEN_SOCKET, settings->listener, NULL);
    ADD(MHD_OPTION_CONNECTION_LIMIT, settings->connection_limit, NULL);
    ADD(MHD_OPTION_PER_IP_CONNECTION_LIMIT, settings->address_limit, NULL);
    ADD(MHD_OPTION_CONNECTION_TIMEOUT, settings->idle_seconds, NULL);
    ADD(MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings->head_byte_count, NULL);
    // 1.0 knows the levels of MHD_OPTION_CLIENT_DISCIPLINE_LVL, too, and still takes this.
    ADD(MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL);
    ADD(MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL);
    ADD(MHD_OPTION_URI_LOG_CALLBACK, settings->begin, settings->context);
    ADD(MHD_OPTION_NOTIFY_COMPLETED, settings->end, settings->context);
    ADD(MHD_OPTION_NOTIFY_CONNECTION, settings->connect, settings->context);
    if (settings->loop_count > 1) ADD(MHD_OPTION_THREAD_POOL_SIZE, settings->loop_count, NULL);
    ADD(MHD_OPTION_END, 0, NULL);
#undef ADD
    const unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC;
    return MHD_start_daemon(flags, 0, NULL, NULL, settings->handle, settings->context, MHD_OPTION_ARRAY, options,
                            MHD_OPTION_END);
}

void webimage_http_adopt_waiting(struct MHD_Daemon *daemon, int listener) {
    // Drops requests for new connections (SYN, a bit in byte 13 of the TCP header), which are refused once the listener is closed. Otherwise
    // connections would be completed, and then reset, between the last accept and the close.
    struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x02, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
    };
    const struct sock_fprog program = { 4, instructions };
    setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
    struct sockaddr_storage address;
    for (;;) {
        socklen_t size = sizeof address;
        const int client = accept4(listener, (struct sockaddr *)&address, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (client < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
        if (client < 0) return;
        // Closes the socket if it fails.
        MHD_add_connection(daemon, client, (struct sockaddr *)&address, size);
    }
}

void webimage_http_ask_for_latency(void) {
    static __thread bool is_done;
    if (is_done) return;
    is_done = true;
    // Whoever has chosen another policy for the process keeps it.
    if (sched_getscheduler(0) != SCHED_OTHER) return;
    // The kernel's sched_attr, which the C library has since version 2.41. The flag is SCHED_FLAG_RESET_ON_FORK: threads that this one starts
    // get the default again.
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes = { .size = 48, .policy = SCHED_OTHER, .flags = 1, .nice = getpriority(PRIO_PROCESS, 0), .runtime = 100000 };
    // A hint: older kernels ignore the time, and sandboxes may forbid the call.
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

unsigned int webimage_http_connection_count(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info ? info->num_connections : 0;
}

int webimage_http_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

void *webimage_http_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

void webimage_http_peer_name(struct MHD_Connection *connection, char *text, size_t size) {
    text[0] = 0;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info ? info->client_addr : NULL;
    if (!address) return;
    if (address->sa_family == AF_INET) {
        inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text, size);
    } else if (address->sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, text, size);
    }
}

struct field_list {
    struct webimage_http_field *fields;
    size_t limit;
    size_t count;
};

static enum MHD_Result add_field(void *context, enum MHD_ValueKind kind, const char *name, size_t name_count,
                                 const char *value, size_t value_count) {
    (void)kind;
    struct field_list *list = context;
    if (list->count < list->limit) {
        list->fields[list->count] = (struct webimage_http_field){ name, name_count, value ? value : "", value_count };
    }
    list->count++;
    return MHD_YES;
}

size_t webimage_http_fields(struct MHD_Connection *connection, struct webimage_http_field *fields, size_t limit) {
    struct field_list list = { fields, limit, 0 };
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, add_field, &list);
    return list.count;
}

struct MHD_Response *webimage_http_response(const void *bytes, size_t count, void (*release)(void *owner), void *owner) {
    return MHD_create_response_from_buffer_with_free_callback_cls(count, (void *)bytes, release, owner);
}

struct MHD_Response *webimage_http_file_response(int file, uint64_t offset, uint64_t count) {
    // The response closes its descriptor.
    const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (own < 0) return NULL;
    struct MHD_Response *response = MHD_create_response_from_fd_at_offset64(count, own, offset);
    if (!response) close(own);
    return response;
}

bool webimage_http_is_resident(int file, uint64_t count) {
    char byte;
    struct iovec piece = { &byte, 1 };
    if (count == 0) return true;
    // Large files are read in advance, so the first and the last page stand for the others.
    const off_t offsets[2] = { 0, (off_t)(count - 1) };
    for (int index = 0; index < 2; index++) {
        if (preadv2(file, &piece, 1, offsets[index], RWF_NOWAIT) < 0 && errno == EAGAIN) return false;
    }
    return true;
}

static int listening(int socket, const struct sockaddr *address, socklen_t size, int backlog) {
    if (socket < 0) return -1;
    if (bind(socket, address, size) == 0 && listen(socket, backlog) == 0) return socket;
    const int number = errno;
    close(socket);
    errno = number;
    return -1;
}

int webimage_http_listen_tcp(const char *address, uint16_t port, int backlog) {
    struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
    const bool is_v4 = inet_pton(AF_INET, address, &v4.sin_addr) == 1;
    if (!is_v4 && inet_pton(AF_INET6, address, &v6.sin6_addr) != 1) {
        errno = EINVAL;
        return -1;
    }
    const int descriptor = socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int one = 1, zero = 0;
    if (descriptor >= 0) {
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        // "::" takes clients of IPv4, too.
        if (!is_v4) setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
    }
    return is_v4 ? listening(descriptor, (struct sockaddr *)&v4, sizeof v4, backlog)
                 : listening(descriptor, (struct sockaddr *)&v6, sizeof v6, backlog);
}

int webimage_http_listen_unix(const char *path, mode_t mode, int backlog) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    struct stat status;
    // A socket that a former server has left behind; nothing else is removed.
    if (lstat(path, &status) == 0 && S_ISSOCK(status.st_mode)) unlink(path);
    const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -1;
    const mode_t former = umask(0777 & ~mode);
    const int result = listening(descriptor, (struct sockaddr *)&address, sizeof address, backlog);
    const int number = errno;
    umask(former);
    errno = number;
    return result;
}

int webimage_http_open_beneath(int directory, const char *path) {
    // Non-blocking: a pipe must not hang the thread.
    struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                            .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

bool webimage_http_notify(const char *state) {
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof address.sun_path) return false;
    strcpy(address.sun_path, path);
    // Abstract sockets begin with a zero byte.
    if (path[0] == '@') address.sun_path[0] = 0;
    const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return false;
    const socklen_t size = offsetof(struct sockaddr_un, sun_path) + strlen(path);
    const ssize_t sent = sendto(descriptor, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address, size);
    close(descriptor);
    return sent >= 0;
}

int webimage_http_given_sockets(void) {
    const char *process = getenv("LISTEN_PID"), *text = getenv("LISTEN_FDS");
    const bool is_ours = process && text && strtol(process, NULL, 10) == (long)getpid();
    const long count = is_ours ? strtol(text, NULL, 10) : 0;
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    if (count <= 0 || count > 16) return 0;
    for (int descriptor = 3; descriptor < 3 + count; descriptor++) {
        // Decode workers must not inherit them.
        fcntl(descriptor, F_SETFD, FD_CLOEXEC);
        fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
    }
    return (int)count;
}

int webimage_http_departures_open(void) { return epoll_create1(EPOLL_CLOEXEC); }

bool webimage_http_departures_add(int departures, int socket, uint64_t number) {
    struct epoll_event event = { .events = EPOLLRDHUP | EPOLLONESHOT, .data = { .u64 = number } };
    return epoll_ctl(departures, EPOLL_CTL_ADD, socket, &event) == 0;
}

void webimage_http_departures_remove(int departures, int socket) { epoll_ctl(departures, EPOLL_CTL_DEL, socket, NULL); }

int webimage_http_departures_wait(int departures, uint64_t *numbers, int limit, int milliseconds) {
    struct epoll_event events[64];
    const int count = epoll_wait(departures, events, limit < 64 ? limit : 64, milliseconds);
    for (int index = 0; index < count; index++) numbers[index] = events[index].data.u64;
    return count;
}
