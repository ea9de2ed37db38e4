/* Record what a program does to the files below a directory (for LD_PRELOAD).

   RECORDED_ROOT is the directory, RECORDED_LOG the file that records are appended to.  Each
   operation and its record are made under one lock, so that the records are in order, whatever
   process or thread they are of.  Syncing is recorded, and not done: no disk is needed.

   A record: a letter, the numbers of the file (inode) and the offset, the lengths of two texts
   (32 bits), and these.  O created, W written, T truncated to the offset, S file synced,
   D directory synced, R renamed, L linked, U removed, M directory made, P printed. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define NAMED(name, result, ...)                                              \
    static result (*real_##name)(__VA_ARGS__);                                \
    if (!real_##name) real_##name = dlsym(RTLD_NEXT, #name);

typedef struct { uint8_t kind; uint64_t inode; int64_t offset; uint32_t one, two; }
    __attribute__((packed)) Record;

static int plain_open(const char *path, int flags, mode_t mode) {
    NAMED(openat, int, int, const char *, int, ...)
    return real_openat(AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

static int begin(void) {
    int log = plain_open(getenv("RECORDED_LOG"), O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (log < 0) abort();
    while (flock(log, LOCK_EX) && errno == EINTR) {}
    return log;
}

static void end(int log) {
    int error = errno;
    close(log);
    errno = error;
}

static void put(int log, char kind, uint64_t inode, int64_t offset, const void *one, size_t size,
                const char *two) {
    int error = errno;
    Record head = {kind, inode, offset, size, two ? strlen(two) : 0};
    struct iovec parts[] = {{&head, sizeof head}, {(void *)one, size}, {(void *)two, head.two}};
    NAMED(writev, ssize_t, int, const struct iovec *, int)
    if (real_writev(log, parts, 3) != (ssize_t)(sizeof head + size + head.two)) abort();
    errno = error;
}

static int is_recorded(const char *path) {
    const char *root = getenv("RECORDED_ROOT");
    size_t size = root ? strlen(root) : 0;
    return size && !strncmp(path, root, size) && (!path[size] || path[size] == '/');
}

static int named(int directory, const char *path, char *full) {
    char base[PATH_MAX] = "", link[64];
    if (path[0] != '/') {
        if (directory == AT_FDCWD) {
            if (!getcwd(base, sizeof base)) return 0;
        } else {
            snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
            ssize_t size = readlink(link, base, sizeof base - 1);
            if (size < 0) return 0;
            base[size] = 0;
        }
        snprintf(full, 2 * PATH_MAX, "%s/%s", base, path);
    } else snprintf(full, 2 * PATH_MAX, "%s", path);
    return is_recorded(full);
}

static int of_fd(int fd, struct stat *status, char *full) {
    char link[64];
    if (!getenv("RECORDED_ROOT") || fstat(fd, status)) return 0;
    if (!S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode)) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, full, PATH_MAX - 1);
    if (size < 0) return 0;
    full[size] = 0;
    return is_recorded(full);
}

static int opened(int directory, const char *path, int flags, mode_t mode) {
    NAMED(openat, int, int, const char *, int, ...)
    char full[2 * PATH_MAX];
    if (!(flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE
        || !named(directory, path, full))
        return real_openat(directory, path, flags, mode);
    int log = begin();
    struct stat status;
    int was_there = !fstatat(directory, path, &status, 0);
    int fd = real_openat(directory, path, flags, mode);
    if (fd >= 0 && !fstat(fd, &status)) {
        if (!was_there) put(log, 'O', status.st_ino, 0, full, strlen(full), NULL);
        else if (flags & O_TRUNC) put(log, 'T', status.st_ino, 0, NULL, 0, NULL);
    }
    end(log);
    return fd;
}

#define MODE mode_t mode = 0; if (flags & (O_CREAT | O_TMPFILE)) { \
    va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); }

int open(const char *path, int flags, ...) { MODE return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE return opened(AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE return opened(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE return opened(at, path, flags, mode); }
int creat(const char *path, mode_t mode) {
    return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* What was written is read back: for it there is one way only. */
static void put_written(int log, int fd, uint64_t inode, int64_t offset, size_t size) {
    char link[64];
    int error = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int again = plain_open(link, O_RDONLY, 0);
    char *data = malloc(size);
    if (again < 0 || !data || pread(again, data, size, offset) != (ssize_t)size) abort();
    close(again);
    put(log, 'W', inode, offset, data, size, NULL);
    free(data);
    errno = error;
}

#define WRITTEN(fd, call, at)                                                 \
    char full[PATH_MAX];                                                      \
    struct stat status;                                                       \
    if (!of_fd(fd, &status, full)) return call;                               \
    int log = begin();                                                        \
    ssize_t size = call;                                                      \
    if (size > 0) put_written(log, fd, status.st_ino, at, size);              \
    end(log);                                                                 \
    return size;

ssize_t write(int fd, const void *data, size_t count) {
    NAMED(write, ssize_t, int, const void *, size_t)
    if (fd == 1 && getenv("RECORDED_ROOT")) {
        int log = begin();
        put(log, 'P', 0, 0, data, count, NULL);
        end(log);
    }
    WRITTEN(fd, real_write(fd, data, count), lseek(fd, 0, SEEK_CUR) - size)
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
    NAMED(writev, ssize_t, int, const struct iovec *, int)
    WRITTEN(fd, real_writev(fd, parts, count), lseek(fd, 0, SEEK_CUR) - size)
}
ssize_t pwrite64(int fd, const void *data, size_t count, off64_t offset) {
    NAMED(pwrite64, ssize_t, int, const void *, size_t, off64_t)
    WRITTEN(fd, real_pwrite64(fd, data, count, offset), offset)
}
ssize_t pwrite(int fd, const void *data, size_t count, off_t offset) {
    return pwrite64(fd, data, count, offset);
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
    NAMED(pwritev64, ssize_t, int, const struct iovec *, int, off64_t)
    WRITTEN(fd, real_pwritev64(fd, parts, count, offset), offset)
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
    return pwritev64(fd, parts, count, offset);
}
ssize_t sendfile64(int fd, int from, off64_t *offset, size_t count) {
    NAMED(sendfile64, ssize_t, int, int, off64_t *, size_t)
    WRITTEN(fd, real_sendfile64(fd, from, offset, count), lseek(fd, 0, SEEK_CUR) - size)
}
ssize_t sendfile(int fd, int from, off_t *offset, size_t count) {
    return sendfile64(fd, from, offset, count);
}
ssize_t copy_file_range(int from, off64_t *begin_from, int fd, off64_t *to, size_t count,
                        unsigned flags) {
    errno = EXDEV; /* the caller copies in another way */
    return -1;
}

int ftruncate64(int fd, off64_t length) {
    NAMED(ftruncate64, int, int, off64_t)
    char full[PATH_MAX];
    struct stat status;
    if (!of_fd(fd, &status, full)) return real_ftruncate64(fd, length);
    int log = begin(), result = real_ftruncate64(fd, length);
    if (!result) put(log, 'T', status.st_ino, length, NULL, 0, NULL);
    end(log);
    return result;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

static int synced(int fd) {
    char full[PATH_MAX];
    struct stat status;
    if (!of_fd(fd, &status, full)) return 0;
    int log = begin(), is_directory = S_ISDIR(status.st_mode);
    put(log, is_directory ? 'D' : 'S', status.st_ino, 0, full, strlen(full), NULL);
    end(log);
    return 0;
}
int fsync(int fd) { return synced(fd); }
int fdatasync(int fd) { return synced(fd); }

static int moved(char kind, int from, const char *old, int to, const char *new, int flags) {
    NAMED(renameat, int, int, const char *, int, const char *)
    NAMED(linkat, int, int, const char *, int, const char *, int)
    char one[2 * PATH_MAX], two[2 * PATH_MAX];
    int recorded = named(from, old, one) & named(to, new, two);
    int log = recorded ? begin() : -1;
    int result = kind == 'R' ? real_renameat(from, old, to, new)
                             : real_linkat(from, old, to, new, flags);
    if (recorded) {
        if (!result) put(log, kind, 0, 0, one, strlen(one), two);
        end(log);
    }
    return result;
}
int rename(const char *old, const char *new) {
    return moved('R', AT_FDCWD, old, AT_FDCWD, new, 0);
}
int renameat(int from, const char *old, int to, const char *new) {
    return moved('R', from, old, to, new, 0);
}
int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    if (flags) { errno = EINVAL; return -1; }
    return moved('R', from, old, to, new, 0);
}
int link(const char *old, const char *new) { return moved('L', AT_FDCWD, old, AT_FDCWD, new, 0); }
int linkat(int from, const char *old, int to, const char *new, int flags) {
    return moved('L', from, old, to, new, flags);
}

static int changed(char kind, int at, const char *path, int flags, mode_t mode) {
    NAMED(unlinkat, int, int, const char *, int)
    NAMED(mkdirat, int, int, const char *, mode_t)
    char full[2 * PATH_MAX];
    int recorded = named(at, path, full);
    int log = recorded ? begin() : -1;
    int result = kind == 'U' ? real_unlinkat(at, path, flags) : real_mkdirat(at, path, mode);
    if (recorded) {
        if (!result) put(log, kind, 0, 0, full, strlen(full), NULL);
        end(log);
    }
    return result;
}
int unlink(const char *path) { return changed('U', AT_FDCWD, path, 0, 0); }
int unlinkat(int at, const char *path, int flags) { return changed('U', at, path, flags, 0); }
int rmdir(const char *path) { return changed('U', AT_FDCWD, path, AT_REMOVEDIR, 0); }
int mkdir(const char *path, mode_t mode) { return changed('M', AT_FDCWD, path, 0, mode); }
int mkdirat(int at, const char *path, mode_t mode) { return changed('M', at, path, 0, mode); }
