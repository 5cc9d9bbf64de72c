// expects: take std::shared_ptr<const T>
#include <sinew/sinew.hpp>
namespace robot {
struct Image {
  std::vector<int> data;
};
}  // namespace robot
auto subscribe(sinew::Node& node) {
  return node.create_subscriber<robot::Image>("image",
                                              [](std::shared_ptr<robot::Image> image, const sinew::MessageInfo&) { image->data.clear(); });
}
