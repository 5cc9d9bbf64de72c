/* A C program, without any C++ library until it loads a plugin that brings one. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  int (*run)(void);
  if (plugin == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  *(void**)&run = dlsym(plugin, "run");
  return run == NULL ? 3 : run();
}
