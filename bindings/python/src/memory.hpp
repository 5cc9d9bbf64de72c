// The memory of an array: what keeps it, and whether it may be written.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sinew::python {

namespace nb = nanobind;

/// What an ndarray is a view on, and its base.
struct Memory {
  std::shared_ptr<const void> owner;  ///< keeps the bytes
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;
  bool writable = false;
};

void define_memory(nb::module_& module);

/// A read-only one, as an object of Python.
nb::object memory_of(std::shared_ptr<const void> owner, const std::uint8_t* data, std::size_t size);

/// numpy.ndarray(shape, dtype, memory, 0, strides), without its detours: about a third of the time. The memory is as large as that needs. Without strides the elements lie one behind the other.
nb::object array_on(const nb::object& memory, const nb::object& dtype, std::span<const std::uint64_t> shape,
                    std::span<const std::uint64_t> strides = {});

/// So that only it can be read from now on.
void make_readonly(const nb::object& array);

}  // namespace sinew::python
