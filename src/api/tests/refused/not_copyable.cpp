// expects: must have a copy constructor
#include <sinew/sinew.hpp>
namespace robot {
class Whole {
 public:
  Whole() = default;
  Whole(const Whole&) = delete;
  Whole& operator=(const Whole&) = delete;
  SINEW_MESSAGE(Whole, number_);

 private:
  int number_ = 0;
};
}  // namespace robot
const auto publisher = sinew::Node::create("node")->create_publisher<robot::Whole>("topic");
