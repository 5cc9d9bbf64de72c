// Messages of which only the bytes are known, as Fast DDS wants types.
#pragma once

#include <cstdint>
#include <cstring>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <functional>
#include <span>
#include <string>

#include "raw_dds.h"

namespace sinew::fastdds {

/// A message on its way out: parts that are copied one behind the other.
struct Outgoing {
  std::span<const sinew_dds_bytes> parts;
  std::uint32_t size;
};

/// One that comes: where it is to be put is asked when its size is known.
struct Incoming {
  const sinew_dds_listener* listener;
  std::size_t size = 0;
  bool is_wanted = false;
};

/// Objects of it are an Outgoing where they are written, and an Incoming where they are taken; nothing else ever makes one.
class MessageType final : public eprosima::fastdds::dds::TopicDataType {
 public:
  explicit MessageType(const std::string& name) {
    setName(name.c_str());
    m_typeSize = 1;  // grows with each message that is larger
    m_isGetKeyDefined = false;
    auto_fill_type_object(false);
    auto_fill_type_information(false);
  }

  bool serialize(void* data, eprosima::fastrtps::rtps::SerializedPayload_t* payload) override {
    const auto& message = *static_cast<const Outgoing*>(data);
    if (payload->max_size < message.size) return false;
    std::uint8_t* to = payload->data;
    for (const sinew_dds_bytes& part : message.parts) {
      if (part.size > 0) std::memcpy(to, part.data, part.size);
      to += part.size;
    }
    payload->length = message.size;
    payload->encapsulation = payload->data[1] == 0 ? CDR_BE : CDR_LE;
    return true;
  }

  bool deserialize(eprosima::fastrtps::rtps::SerializedPayload_t* payload, void* data) override {
    auto& message = *static_cast<Incoming*>(data);
    message.size = payload->length;
    std::uint8_t* const room = message.listener->room_for(message.listener->context, message.size);
    message.is_wanted = room != nullptr;
    if (room != nullptr && message.size > 0) std::memcpy(room, payload->data, message.size);
    return true;
  }

  std::function<std::uint32_t()> getSerializedSizeProvider(void* data) override {
    return [data] { return static_cast<const Outgoing*>(data)->size; };
  }

  // Topics of ROS 2 have no keys.
  bool getKey(void*, eprosima::fastrtps::rtps::InstanceHandle_t*, bool) override { return false; }
  void* createData() override { return nullptr; }
  void deleteData(void*) override {}
};

}  // namespace sinew::fastdds
