// What the library knows of a message type at run time: a table that reflection makes at compile time.
//
// Everything that walks a message (audit, validation, copying, and the codecs) works on this table, so it is compiled once, not per type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sinew/detail/language.hpp"

namespace sinew::msg {

enum class Kind : std::uint8_t {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  enumeration,  ///< element: the underlying integer; any value of it is accepted
  string,       ///< std::string
  vector,       ///< std::vector of element
  bit_vector,   ///< std::vector<bool>
  array,        ///< std::array or C array: count elements side by side
  optional,     ///< std::optional of element
  structure,    ///< an aggregate, or a class with SINEW_MESSAGE: fields
  text_view,    ///< std::string_view, to be read into only: to other ends a string
  view,         ///< std::span<const element>, to be read into only: to other ends a vector
  variant,      ///< std::variant: its alternatives are fields without names
  map,          ///< std::map or std::unordered_map: element is a structure of `key` and `value`; to other ends a vector of them
};

struct Type;

struct Field {
  const char* name;
  std::uint32_t offset;
  const Type* type;
};

/// What can be done with a map of a type.
struct MapAccess {
  enum class Inserted : std::uint8_t { yes, key_is_there, crowded, refused };
  std::size_t (*size)(const void* map) noexcept;
  /// Calls visit for each entry, in the order of the map, until it returns false; returns false then.
  bool (*for_each)(const void* map, void* context, bool (*visit)(void* context, const void* entry));
  /// Takes the value out of `entry`, which stays an object to be destroyed. In a hash table it costs as much of `patience` as there are entries in the bucket of the key;
  /// `crowded` when there is not so much.
  Inserted (*insert)(void* map, void* entry, std::uint64_t& patience) noexcept;
};

struct Type {
  Kind kind;
  bool flat;  ///< no pointer, bool, optional or variant anywhere inside: any bytes are a valid value and copying the bytes copies the value
  bool owns;  ///< a string, vector or map somewhere inside: a value may have storage outside the object
  bool has_views;        ///< a view somewhere inside: a value refers to memory that is not its own. Only subscribers have such types
  bool has_variants;     ///< a variant somewhere inside: a value may lack what other processes could be told
  bool in_place;         ///< no map anywhere inside: all storage is in images that other processes can read
  std::uint32_t size;    ///< sizeof
  std::uint32_t align;   ///< alignof
  std::uint64_t count;   ///< array: number of elements; else 0
  const Type* element;   ///< enumeration, vector, array, optional, view, map; else null
  const MapAccess* map;  ///< map; else null
  std::span<const Field> fields;  ///< structure; variant: its alternatives
  std::span<const Field> deep;    ///< those of the fields that are not flat, so that walking a message skips the others
  const char* name;               ///< for people: "robot/Image", "uint8[]", "string"
  void (*construct)(void* at);    ///< value-initialises (may throw)
  void (*destroy)(void* at) noexcept;
};

/// A type that can be published: its table and what makes it comparable between processes.
struct Message {
  const Type* type;
  const char* name;       ///< "robot/Image"
  const char* signature;  ///< "robot/Image{header:robot/Header{stamp_ns:uint64;frame_id:string;};height:uint32;...}", spec/types.md
  std::array<std::uint8_t, 16> hash;  ///< of the structure: field names and kinds, no type names
  std::uint64_t layout;               ///< of sizes, offsets, alignments and the standard library: equal means readable in place
};

/// The table of T. Refuses at compile time, with a sentence, what cannot be a message. Defined by sinew/msg/reflect.hpp.
template <class T>
const Message& message_of() noexcept;

/// The same for publishers: refuses also what only subscribers can have.
template <class T>
const Message& published_message_of() noexcept;

}  // namespace sinew::msg
