# For 64-bit ARM on another machine: Debian's cross compiler, and qemu-user to run what it makes. Header-only libraries are those of this machine.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# With pages of 64 KiB, as some kernels have them there: those of 4 KiB are tried everywhere else.
# Without SVE: with such pages it takes stores of that to some memory that may be written (qemu 7.2) for faults.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -cpu max,sve=off -p 65536 -L /usr/aarch64-linux-gnu)
