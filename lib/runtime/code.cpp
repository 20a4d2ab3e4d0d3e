// SPDX-License-Identifier: Apache-2.0
#include "runtime/code.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tvrt {
namespace {

bool write_all(int fd, const uint8_t* bytes, size_t size) {
  while (size > 0) {
    ssize_t n = write(fd, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

// Where memory files are missing or may not be executed: a file that loses its name once it is loaded.
void* open_as_file(const uint8_t* bytes, size_t size) {
  char path[] = "/tmp/tvrt-XXXXXX";
  int fd = mkostemp(path, O_CLOEXEC);
  if (fd < 0) return nullptr;
  void* library = write_all(fd, bytes, size) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  unlink(path);
  close(fd);
  return library;
}

}  // namespace

int32_t LoadedCode::load(const uint8_t* bytes, size_t size, const tvrt_program** program, Message& message) {
  // The descriptor stays open as long as the code is loaded: the dynamic linker knows a library by its path, and with
  // the number free for others, the next model would get this one's code.
  fd = memfd_create("tvc-model", MFD_CLOEXEC);
  if (fd >= 0 && write_all(fd, bytes, size)) {
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  if (!library) library = open_as_file(bytes, size);
  if (!library) {
    const char* reason = dlerror();
    return message.set(TVRT_BAD_ARTIFACT, "cannot load the code: %s", reason ? reason : strerror(errno));
  }
  auto query = reinterpret_cast<tvrt_query_fn>(dlsym(library, TVRT_QUERY_SYMBOL));
  if (!query) return message.set(TVRT_BAD_ARTIFACT, "the code does not export %s", TVRT_QUERY_SYMBOL);
  *program = query(TVRT_ABI_VERSION);
  if (!*program)
    return message.set(TVRT_UNSUPPORTED, "the code needs a newer runtime than ABI version %u", TVRT_ABI_VERSION);
  return TVRT_OK;
}

void LoadedCode::unload() {
  if (library) dlclose(library);
  if (fd >= 0) close(fd);
  library = nullptr;
  fd = -1;
}

}  // namespace tvrt
