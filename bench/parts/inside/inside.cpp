#include "parts/inside/inside.hpp"

namespace sinew::bench {

namespace {

constexpr Part all[] = {
    {"audit-image", "audit and validation of an image of 5.5 MB in a window", measure_audit_image},
    {"audit-texts", "the same of 10,000 strings; floor: writing and reading them by Fast CDR", measure_audit_texts},
    {"audit-texts-codec", "the same; floor: writing and reading them by sinew's CDR", measure_audit_texts_codec},
    {"image-write", "CDR of an image of 5.5 MB into a warm buffer; floor: memcpy to the same place", measure_image_write},
    {"image-read", "the same read into a new object; floor: a copy of its vector", measure_image_read},
    {"state-write", "CDR of a struct of 20 scalars; floor: Fast CDR", measure_state_write},
    {"state-read", "the same read; floor: Fast CDR", measure_state_read},
    {"cloud-pieces", "CDR of a point cloud of 16 MB in pieces that refer to its array", measure_cloud_pieces},
};

}  // namespace

std::span<const Part> parts() {
  return all;
}

}  // namespace sinew::bench
