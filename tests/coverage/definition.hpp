// What the generated sources list: each message of a definition of ROS 2, as sinew knows it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "sinew/msg/reflect.hpp"

namespace sinew::coverage {

/// A .msg, or one part of a .srv or .action.
struct Definition {
  std::string repository;
  std::string file;             ///< "std_srvs/srv/SetBool.srv"
  std::string name;             ///< "std_srvs/srv/SetBool_Request"
  std::string signature;        ///< as msggen has it; nothing where it says that sinew does not carry it
  const msg::Message* message;  ///< null: not a message of sinew
  msg::Trouble trouble;         ///< then: what sinew says of the structure, or none
  std::string missing;          ///< then: why there is no structure
};

/// What the type of a member does not tell: how much it may hold. 0: any number.
struct Bound {
  std::size_t elements = 0;
  std::size_t characters = 0;  ///< of each string
};

struct Listing {
  std::vector<Definition> definitions;
  std::map<std::string, Bound> bounds;  ///< by member: "shape_msgs/msg/SolidPrimitive.dimensions"

  /// The only thing that is instantiated for a type: its table.
  template <class T>
  void add(const char* repository, const char* file, const char* name, const char* signature) {
    constexpr msg::Trouble trouble = msg::trouble_with<T>();
    const msg::Message* message = nullptr;
    if constexpr (trouble == msg::Trouble::none) message = &msg::message_of<T>();
    definitions.push_back({repository, file, name, signature, message, trouble, {}});
  }
  void add_missing(const char* repository, const char* file, const char* name, const char* why) {
    definitions.push_back({repository, file, name, {}, nullptr, msg::Trouble::none, why});
  }

  Bound bound_of(const msg::Type& structure, const msg::Field& field) const {
    const auto found = bounds.find(std::string(structure.name) + "." + field.name);
    return found == bounds.end() ? Bound{} : found->second;
  }
};

/// All that there was when this program was built.
Listing listing_of_all();

}  // namespace sinew::coverage
