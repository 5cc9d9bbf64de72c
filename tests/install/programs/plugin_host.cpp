// Loads two plugins, each for itself, and lets the first work with the second.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  void* const maker = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  void* const user = maker ? dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (user == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  const auto run = reinterpret_cast<int (*)(void*)>(dlsym(maker, "run"));
  return run(dlsym(user, "change"));
}
