# What a person or a machine asks of this repository. Each target alone does all the set-up it needs; `make` lists them.
.DEFAULT_GOAL := help
.PHONY: help demo test test-aarch64 test-kernel fuzz bench bench-stress bench-counts bench-peers bench-command bench-python bench-gateway bench-ros2 soak seeded first-minute dist dist-test lint install uninstall site pictures clean

PREFIX ?= /usr/local
# As an absolute path, which names the same from everywhere; of ~ the shell makes one.
INTO = $(if $(filter ~%,$(PREFIX)),$(PREFIX),$(abspath $(PREFIX)))
# What others make in build/ next is not for root alone, also where this is interrupted.
GIVEN_BACK = trap 'test -z "$$SUDO_UID" || chown -R "$$SUDO_UID:$$SUDO_GID" build' EXIT; trap : INT TERM;
JOBS ?= $(shell nproc)
# Of each fuzzer.
SECONDS ?= 600
# The interpreter that Debian's python3-pip and python3-matplotlib belong to; another one may come first in PATH.
PYTHON ?= /usr/bin/python3
# Where the command is installed for its benchmark.
COMMAND = $(CURDIR)/build/command
# With what Python is measured beside, and the package as pip installs it.
PEERS_PYTHON = $(CURDIR)/build/bench-python
CONFIGURE = cmake --log-level=WARNING --preset release
BUILD = cmake --build --preset release --parallel $(JOBS)

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Camera, lidar and drone state through shared memory for 20 s, beside the same pipeline over TCP
	@tools/setup demo
	@test -x build/bin/demo || echo "Compiling the library and the demo, $(JOBS) files at a time: four minutes of a processor, so that two idle cores take two. Next time there is nothing to compile."
	$(CONFIGURE) -DSINEW_EXAMPLES=ON >/dev/null
	$(BUILD) --target demo
	$(PYTHON) tools/fetch_demo_data.py build/demo-data
	build/bin/demo --data build/demo-data

test: ## All tests: plain, address and undefined sanitizers, thread sanitizer, fuzzers for 30 s, models, Rust, Python, all three beside each other, the robot, the command beside the demo, an installed sinew, and the pages
	@tools/setup test rust
	@tools/test.py --jobs $(JOBS)

test-aarch64: ## What an emulator of 64-bit ARM can run of the tests
	@tools/setup test aarch64
	@tools/test.py --jobs $(JOBS) aarch64

test-kernel: ## What can be run of the tests under the oldest kernel, Linux 5.10, in an emulator
	@tools/setup test kernel
	@tools/old_kernel.py --jobs $(JOBS)

fuzz: ## Each fuzzer for SECONDS (default 600), JOBS at a time; what they find is kept in build-fuzz/
	@tools/setup fuzz rust
	@tools/fuzz.py --jobs $(JOBS) --seconds $(SECONDS)

bench: ## Latency and throughput beside the floors of this machine; writes build/bench/
	@tools/setup bench
	$(CONFIGURE) -DSINEW_BENCH=ON
	$(BUILD)
	$(PYTHON) bench/run.py

bench-stress: ## Latency while stress-ng loads all cores, beside a unix socket; writes build/bench/stress.md
	@tools/setup stress
	$(CONFIGURE) -DSINEW_BENCH=ON
	$(BUILD)
	$(PYTHON) bench/stress.py

bench-counts: ## Instructions and cache lines of publishing, receiving, checking and encoding, counted under valgrind; writes build/bench/counts.md
	@tools/setup bench
	$(CONFIGURE) -DSINEW_BENCH=ON
	$(BUILD)
	$(PYTHON) bench/counts.py

bench-peers: ## The experiments of the papers, beside other systems and the floors, in interleaved rounds (two hours; bench/peers.py --help); writes bench/results/
	@tools/setup bench python
	@tools/setup peers || echo "going on without what is missing: the report names it"
	$(CONFIGURE) -DSINEW_BENCH=ON -DSINEW_PEERS=ON
	$(BUILD)
	tools/python_env.py bench/peers/python/requirements.txt $(PEERS_PYTHON) && $(PEERS_PYTHON)/bin/python -m pip install --quiet --disable-pip-version-check . || echo "going on without Python: the report names it"
	cd bench/peers/rust && cargo build --quiet --release --locked --jobs $(JOBS) --target-dir $(CURDIR)/build/bench-peers-rust || echo "going on without what is made of Rust: the report names it"
	$(PYTHON) tools/fetch_demo_data.py build/demo-data
	$(PYTHON) bench/peers.py

bench-command: ## What the command costs: top beside 500 topics, how soon echo shows an image, record beside a write each; writes build/bench/command.md
	@tools/setup bench rust
	$(CONFIGURE)
	$(BUILD)
	cmake --install build --prefix $(COMMAND)
	@tools/install_command.py --jobs $(JOBS) $(COMMAND)
	cd rust && PKG_CONFIG_PATH=$(COMMAND)/lib/pkgconfig CARGO_TARGET_DIR=$(CURDIR)/build/rust cargo build --release --locked --jobs $(JOBS) --package sinew-cli --example load
	$(PYTHON) bench/command.py

bench-python: ## Python beside C++ and beside the Python packages of eCAL and Zenoh, and what generated messages cost; writes build/bench/python.md
	@tools/setup bench python
	$(CONFIGURE) -DSINEW_BENCH=ON
	$(BUILD)
	cmake --install build --prefix $(COMMAND)
	tools/python_env.py bench/peers/python/requirements.txt $(PEERS_PYTHON)
	$(PEERS_PYTHON)/bin/python -m pip install --quiet --disable-pip-version-check .
	$(PEERS_PYTHON)/bin/python bench/python.py --prefix $(COMMAND)

bench-gateway: ## Between two machines: beside nothing, bare quinn and Zenoh, over good and bad networks; writes build/bench/gateway.md
	@tools/setup bench rust python
	$(CONFIGURE)
	$(BUILD)
	cmake --install build --prefix $(COMMAND)
	@tools/install_command.py --jobs $(JOBS) $(COMMAND)
	cd rust && PKG_CONFIG_PATH=$(COMMAND)/lib/pkgconfig CARGO_TARGET_DIR=$(CURDIR)/build/rust cargo build --release --locked --jobs $(JOBS) --package sinew-gateway --examples
	tools/python_env.py bench/peers/python/requirements.txt $(PEERS_PYTHON)
	$(PYTHON) bench/gateway.py

bench-ros2: ## What the bridge to ROS 2 costs, beside DDS alone; writes build/bench/ros2.md
	@tools/setup bench rust
	$(CONFIGURE) -DSINEW_BENCH=ON
	$(BUILD)
	cmake --install build --prefix $(COMMAND)
	@tools/install_command.py --jobs $(JOBS) $(COMMAND)
	$(PYTHON) bench/ros2.py

soak: ## Kill ten thousand processes, fail every system call, attack the manager, give a robot its worst night, and look for who notices; writes docs/reliability.md
	@tools/setup test
	@tools/soak.py --jobs $(JOBS)

seeded: ## Take out one safety measure after the other, and see its tests fail (an hour and a half, or more); writes docs/hazards.md
	@tools/setup test
	@tools/seeded.py --jobs $(JOBS)

first-minute: ## What a stranger does first, in a bare Debian, with what it takes and prints (half an hour); writes build/first-minute/transcript.md
	@tools/setup bare
	@tools/first_minute.py

dist: ## Archive of the sources, Debian packages and Python wheel of what is committed, into build/dist
	@tools/setup build rust python dist
	@tools/dist.py --jobs $(JOBS)

# Apart from `dist`, as it needs root, and takes longer than that.
dist-test: ## Install what `make dist` has made into bare Debians, use it there, and print what was tried (half an hour)
	@tools/setup bare
	@tools/dist_test.py

lint: ## Formatting, layers, pairs of atomics, lengths, public headers, warnings of three compilers, clang-tidy
	@tools/setup lint rust
	@tools/lint.py --jobs $(JOBS)

install: ## Library, headers, manager, command, CMake and pkg-config files into PREFIX (default /usr/local)
	$(if $(DESTDIR),$(error This takes no DESTDIR. Nothing that is installed names its prefix, so stage it by: make install PREFIX=$(DESTDIR)$(PREFIX)))
	$(if $(word 2,$(PREFIX)),$(error PREFIX must have no spaces: '$(PREFIX)'))
	@tools/setup build rust
	@$(GIVEN_BACK) echo "$(CONFIGURE)" && $(CONFIGURE) >/dev/null
	@$(GIVEN_BACK) echo "$(BUILD)" && $(BUILD)
	@$(GIVEN_BACK) echo "cmake --install build --prefix $(INTO)" && cmake --install build --prefix $(INTO) >/dev/null && cp build/install_manifest.txt build/installed.txt
	@test $$(id -u) -ne 0 || PATH=$$PATH:/usr/sbin:/sbin ldconfig || : # the loader's list of what is in /usr/local/lib
	@test -x build/rust/release/sinew || echo "The library is in $(INTO): programs in C and C++ can have it already. Now the command and the gateway, which are in Rust: ten minutes on two cores, the first time."
	@$(GIVEN_BACK) tools/install_command.py --jobs $(JOBS) $(INTO); status=$$?; cp build/install_manifest.txt build/installed.txt; exit $$status
	@test -e build/lib/sinew/libsinew-fastdds.so || echo "Without Fast DDS 2 (Debian 12: libfastrtps-dev), so that 'sinew bridge ros2' cannot work."
	@echo "Installed in $(INTO).$(if $(filter /usr /usr/local,$(INTO)),, Every new terminal that compiles with it, or asks the command, needs:)"
	$(if $(filter /usr /usr/local,$(INTO)),,@echo '  export PKG_CONFIG_PATH=$(INTO)/lib/pkgconfig PATH=$(INTO)/bin:$$PATH')

uninstall: ## Remove what the last `make install` of this folder has installed
	@tools/uninstall.py

site: ## The pages of docs/ as a site in build/site, which needs no network; broken links fail
	@tools/setup site
	@tools/make_site.py

pictures: ## The pictures of docs/: diagrams, and the demo as `sinew graph` and `sinew top` show it
	@tools/setup demo rust pictures
	tools/diagrams.py
	$(CONFIGURE) -DSINEW_EXAMPLES=ON
	$(BUILD)
	cmake --install build --prefix $(COMMAND)
	@tools/install_command.py --jobs $(JOBS) $(COMMAND)
	$(PYTHON) tools/fetch_demo_data.py build/demo-data
	$(PYTHON) tools/pictures.py build/bin/demo build/demo-data $(COMMAND)/bin/sinew

clean: ## Remove everything that was built or fetched
	rm -rf build build-dev build-asan build-tsan build-clang build-aarch64 build-fuzz build-models build-msggen build-python build-rust build-seeded
