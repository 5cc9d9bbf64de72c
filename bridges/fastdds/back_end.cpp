// The functions of raw_dds.h.
#include <fastrtps/config.h>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <new>
#include <span>

#include "fastdds/endpoints.hpp"
#include "fastdds/participant.hpp"
#include "raw_dds.h"

using sinew::fastdds::Participant;
using sinew::fastdds::Reader;
using sinew::fastdds::Writer;

struct sinew_dds_participant : Participant {
  using Participant::Participant;
};
struct sinew_dds_writer : Writer {
  using Writer::Writer;
};
struct sinew_dds_reader : Reader {
  using Reader::Reader;
};

namespace {

/// Made, or why not. Nothing may be thrown into a caller that is no C++.
template <class Made, class... Arguments>
Made* made(char* why, Arguments&&... arguments) noexcept {
  try {
    return new Made(arguments...);
  } catch (const std::bad_alloc&) {
    std::snprintf(why, SINEW_DDS_WHY, "there is no memory for it");
  } catch (const std::exception& error) {
    std::snprintf(why, SINEW_DDS_WHY, "%s", error.what());
  }
  return nullptr;
}

constexpr sinew_dds_functions functions{
    .version = SINEW_DDS_VERSION,
    .name = "Fast DDS " FASTRTPS_VERSION_STR,
    .open = [](const sinew_dds_options* options, const sinew_dds_discovery* discovery,
               char* why) noexcept { return made<sinew_dds_participant>(why, *options, *discovery); },
    .close = [](sinew_dds_participant* participant) noexcept { delete participant; },
    .guid_of_participant = [](const sinew_dds_participant* participant, sinew_dds_guid* guid) noexcept { *guid = participant->guid(); },
    .open_writer = [](sinew_dds_participant* participant, const sinew_dds_topic* topic, const sinew_dds_listener* listener,
                      char* why) noexcept { return made<sinew_dds_writer>(why, *participant, *topic, *listener); },
    .close_writer = [](sinew_dds_writer* writer) noexcept { delete writer; },
    .guid_of_writer = [](const sinew_dds_writer* writer, sinew_dds_guid* guid) noexcept { *guid = writer->guid(); },
    .write = [](sinew_dds_writer* writer, const sinew_dds_bytes* parts, std::size_t count, const sinew_dds_identity* related,
                sinew_dds_identity* identity) noexcept { return writer->write(std::span(parts, count), related, identity); },
    .is_acknowledged = [](sinew_dds_writer* writer) noexcept { return writer->is_acknowledged(); },
    .forget = [](sinew_dds_writer* writer) noexcept { return writer->forget(); },
    .open_reader = [](sinew_dds_participant* participant, const sinew_dds_topic* topic, const sinew_dds_listener* listener,
                      char* why) noexcept { return made<sinew_dds_reader>(why, *participant, *topic, *listener); },
    .close_reader = [](sinew_dds_reader* reader) noexcept { delete reader; },
    .guid_of_reader = [](const sinew_dds_reader* reader, sinew_dds_guid* guid) noexcept { *guid = reader->guid(); },
};

}  // namespace

const sinew_dds_functions* sinew_dds_back_end() {
  return &functions;
}
