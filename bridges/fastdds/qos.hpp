// Quality of service, from one set of words to the other.
#pragma once

#include <fastdds/dds/publisher/qos/DataWriterQos.hpp>
#include <fastdds/dds/publisher/qos/WriterQos.hpp>
#include <fastdds/dds/subscriber/qos/DataReaderQos.hpp>
#include <fastdds/dds/subscriber/qos/ReaderQos.hpp>

#include "raw_dds.h"

namespace sinew::fastdds {

eprosima::fastdds::dds::DataWriterQos writer_qos_of(const sinew_dds_topic& topic);
eprosima::fastdds::dds::DataReaderQos reader_qos_of(const sinew_dds_topic& topic);

/// As discovery tells it, without a depth.
sinew_dds_qos qos_of(const eprosima::fastdds::dds::WriterQos& qos);
sinew_dds_qos qos_of(const eprosima::fastdds::dds::ReaderQos& qos);

/// "reliability"
const char* name_of(eprosima::fastdds::dds::QosPolicyId_t policy);

}  // namespace sinew::fastdds
