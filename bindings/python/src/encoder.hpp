// What writes a value: one for each message.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bindings/python/src/draft.hpp"
#include "bindings/python/src/stream.hpp"
#include "bindings/python/src/writer.hpp"

namespace sinew::python {

struct Sequence;

/// A value of a stream, to be written as this type: with the alternatives of variants, where the types are the same.
nb::object exact_value(const Type& wanted, const TypePtr& type, const StreamPtr& stream, std::uint64_t offset);

/// Knows where in the message it is, for the errors that it raises.
class Encoder {
 public:
  explicit Encoder(Writer& into) : out_(into) {}

  void value(const Type& type, PyObject* value);
  /// Writes nothing: see encode.hpp.
  void assign(const Field& field, const nb::object& loaned, nb::handle value);

 private:
  // encode.cpp: kinds
  void text(PyObject* value);
  void optional(const Type& type, PyObject* value);
  void variant(const Type& type, PyObject* value);
  bool try_alternative(const Type& variant, std::size_t index, PyObject* value);
  void defaults(const Type& type);

  // encode_structure.cpp
  void structure(const Type& type, PyObject* value);
  void from_mapping(const Type& type, PyObject* mapping);
  void from_attributes(const Type& type, PyObject* object);
  /// Objects of classes that are declared as other messages are refused: they would be written as the fields that both have.
  void require_class(const Type& type, PyTypeObject* cls);
  void field(const Type& structure, std::size_t index, PyObject* value);

  // encode_number.cpp
  void number(const Type& type, PyObject* value);
  void integer(const Type& type, PyObject* value);
  void floating(const Type& type, PyObject* value);
  void boolean(PyObject* value);

  // encode_vector.cpp
  void elements(const Type& type, PyObject* value);
  void map_entries(const Type& type, PyObject* mapping);
  void from_sequence(const Type& type, const Sequence& sequence);
  void one_by_one(const Type& type, PyObject* value);
  /// Of a vector, whose number of elements it writes, or of an array, that has as many: numbers or rows of this shape are given.
  void begin(const Type& type, std::span<const std::uint64_t> shape);
  void count(const Type& type, std::uint64_t elements);
  bool from_buffer(const Type& type, PyObject* value);
  /// As from_buffer() would from its array, without asking NumPy.
  bool from_loaned(const Field& field, const Draft::Loaned& loaned);

  // encode_array.cpp: of NumPy
  void from_array(const Type& type, const nb::object& array);
  void from_numbers(const Type& type, const nb::object& array);
  void from_rows(const Type& type, const nb::object& array);
  bool rows_in_place(const Type& row, std::uint64_t count, const nb::object& array);
  void assign(const Type& type, const nb::object& target, const nb::object& source);
  void require_fit(Kind number, const nb::object& array);
  void spread(const Type& type, const std::uint8_t*& from);

  [[noreturn]] void fail(const std::string& text) const;
  [[noreturn]] void unexpected(const std::string& wanted, PyObject* value) const;

  struct Step {
    const std::string* field;  // null: an element
    std::uint64_t index;
  };
  class Into {
   public:
    Into(Encoder& encoder, Step step) : path_(encoder.path_) { path_.push_back(step); }
    ~Into() { path_.pop_back(); }
    Into(const Into&) = delete;
    Into& operator=(const Into&) = delete;

   private:
    std::vector<Step>& path_;
  };

  Writer& out_;
  std::vector<Step> path_;
};

}  // namespace sinew::python
