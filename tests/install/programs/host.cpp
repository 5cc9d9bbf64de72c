// A C++ program that knows nothing of sinew and has used the C++ library's allocator before it loads a plugin that does.
#include <dlfcn.h>

#include <cstdio>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  std::vector<std::string> before(100, std::string(100, 'x'));
  void* plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (plugin == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  const auto run = reinterpret_cast<int (*)()>(dlsym(plugin, "run"));
  return run == nullptr || before.size() != 100 ? 3 : run();
}
