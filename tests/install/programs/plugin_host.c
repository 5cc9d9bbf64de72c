/* C, or C++: loads two plugins in this order, each for itself, and lets the one with run() work with the other's change(). */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* const first = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void* const second = first ? dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) : NULL;
  void* const maker = second && dlsym(first, "run") ? first : second;
  int (*run)(void*);
  if (second == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  *(void**)&run = dlsym(maker, "run");
  return run(dlsym(maker == first ? second : first, "change"));
}
