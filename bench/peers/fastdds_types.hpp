// What messages are to Fast DDS: what its generator would write for a struct with a sequence of octets, and for one with an array.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <functional>
#include <new>
#include <vector>

#include "driver.hpp"

namespace sinew::bench::peers {

namespace rtps = eprosima::fastrtps::rtps;

struct Message {
  Header header;
  std::vector<std::uint8_t> data;
};

/// Without a key, and of at most so many bytes.
class Type : public eprosima::fastdds::dds::TopicDataType {
 public:
  Type(const char* name, std::size_t most) {
    setName(name);
    m_typeSize = static_cast<std::uint32_t>(encapsulation + most);
  }
  bool getKey(void*, rtps::InstanceHandle_t*, bool) override { return false; }

 protected:
  static constexpr std::size_t encapsulation = rtps::SerializedPayload_t::representation_header_size;
};

/// A header and a sequence. Serialized as CDR does it, so the length goes with it: on the way messages are filled up to whole words.
class Sized final : public Type {
 public:
  explicit Sized(std::size_t largest) : Type("Message", before_data - encapsulation + largest) {}

  bool serialize(void* sample, rtps::SerializedPayload_t* payload) override {
    const Message& message = *static_cast<const Message*>(sample);
    const auto length = static_cast<std::uint32_t>(message.data.size());
    if (before_data + length > payload->max_size) return false;
    payload->encapsulation = CDR_LE;
    payload->length = static_cast<std::uint32_t>(before_data + length);
    std::memcpy(payload->data, little_endian.data(), encapsulation);
    std::memcpy(payload->data + encapsulation, &message.header, sizeof message.header);
    std::memcpy(payload->data + encapsulation + sizeof message.header, &length, sizeof length);
    std::memcpy(payload->data + before_data, message.data.data(), length);
    return true;
  }
  bool deserialize(rtps::SerializedPayload_t* payload, void* sample) override {
    Message& message = *static_cast<Message*>(sample);
    std::uint32_t length = 0;
    if (payload->length < before_data) return false;
    std::memcpy(&message.header, payload->data + encapsulation, sizeof message.header);
    std::memcpy(&length, payload->data + encapsulation + sizeof message.header, sizeof length);
    if (length > payload->length - before_data) return false;
    message.data.resize(length);
    std::memcpy(message.data.data(), payload->data + before_data, length);
    return true;
  }
  std::function<std::uint32_t()> getSerializedSizeProvider(void* sample) override {
    return [sample] { return static_cast<std::uint32_t>(before_data + static_cast<const Message*>(sample)->data.size()); };
  }
  void* createData() override { return new Message; }
  void deleteData(void* sample) override { delete static_cast<Message*>(sample); }

 private:
  static constexpr std::array<rtps::octet, encapsulation> little_endian{0, CDR_LE, 0, 0};
  static constexpr std::size_t before_data = encapsulation + sizeof(Header) + sizeof(std::uint32_t);
};

/// A header and an array, whose bytes are the same in memory and on the way.
class Plain final : public Type {
 public:
  explicit Plain(std::size_t largest) : Type("Plain", sizeof(Header) + largest) {}

  bool serialize(void*, rtps::SerializedPayload_t*) override { return false; }    // only loans are published
  bool deserialize(rtps::SerializedPayload_t*, void*) override { return false; }  // and taken
  std::function<std::uint32_t()> getSerializedSizeProvider(void*) override {
    return [this] { return m_typeSize; };
  }
  void* createData() override { return ::operator new(m_typeSize); }
  void deleteData(void* sample) override { ::operator delete(sample); }
  bool is_bounded() const override { return true; }
  bool is_plain() const override { return true; }
  bool construct_sample(void*) const override { return true; }
};

}  // namespace sinew::bench::peers
