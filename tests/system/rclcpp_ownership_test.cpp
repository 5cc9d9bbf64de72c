// Programs that are written for rclcpp: who keeps a node that is spun, and how long its callbacks run.
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "tests/system/rclcpp.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

TEST_F(Rclcpp, AnExecutorDoesNotKeepNodesAndOneMayEndInItsOwnCallback) {
  auto node = std::make_shared<rclcpp::Node>("node");
  const auto stays = std::make_shared<rclcpp::Node>("stays");
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  executor.add_node(stays);
  const std::weak_ptr<rclcpp::Node> gone = node;
  auto timer = node->create_wall_timer(1ms, [&] { node.reset(); });
  const auto end = stays->create_wall_timer(1ms, [&] {
    if (gone.expired()) executor.cancel();
  });
  executor.spin();
  EXPECT_TRUE(gone.expired());
  const rclcpp::Node again("node");  // the name is free
}

struct Ticking : rclcpp::Node {
  Ticking(const std::string& name, rclcpp::executors::SingleThreadedExecutor& executor) : Node(name), by(executor) {
    by.add_node(get_node_base_interface());
  }
  rclcpp::executors::SingleThreadedExecutor& by;
  int ticks = 0;
  rclcpp::TimerBase::SharedPtr timer = create_wall_timer(1ns, [this] { ++ticks; });
};

TEST_F(Rclcpp, ANodeThatNoPointerOwnsYetIsSpunByItsBaseInterface) {
  rclcpp::executors::SingleThreadedExecutor executor;
  Ticking local("local", executor);
  const auto shared = std::make_shared<Ticking>("shared", executor);
  executor.add_node(shared);
  EXPECT_TRUE(eventually([&] {
    executor.spin_some();
    return local.ticks > 1 && shared->ticks > 1;
  }));
  executor.remove_node(local.get_node_base_interface());
  EXPECT_TRUE(spin_until(local.get_node_base_interface(), [&, before = local.ticks] { return local.ticks > before; }));
}

TEST_F(Rclcpp, AndNotOnceThePointersThatHaveOwnedItAreGone) {
  struct Leaving : Ticking {
    using Ticking::Ticking;
    ~Leaving() override {
      const int before = ticks;
      by.spin_some();
      EXPECT_EQ(ticks, before);
    }
  };
  rclcpp::executors::SingleThreadedExecutor executor;
  std::make_shared<Leaving>("first", executor);
  const auto node = std::make_shared<Leaving>("second", executor);
  while (node->ticks == 0) executor.spin_some();
}

/// Asks for its base interface before anybody owns it.
struct Early : rclcpp::Node {
  Early() : Node("early"), base(get_node_base_interface()) {}
  ~Early() override { is_gone = true; }
  std::shared_ptr<rclcpp::Node> base;
  std::atomic<bool> is_gone{false};
};

TEST_F(Rclcpp, ANodeWhoseBaseInterfaceIsAskedForBeforeAnybodyOwnsItIsKeptByItsPointersAllTheSame) {
  auto node = std::make_shared<Early>();
  const std::weak_ptr<Early> weak = node;
  auto self = node->shared_from_this();
  node.reset();
  EXPECT_FALSE(weak.expired());
  EXPECT_EQ(self->get_node_base_interface(), self);
  self.reset();
  EXPECT_TRUE(weak.expired());
}

TEST_F(Rclcpp, AndItStaysWhileItIsSpun) {
  auto node = std::make_shared<Early>();
  std::atomic<int> ticks{0};
  auto timer = node->create_wall_timer(1ms, [&] { ++ticks; });
  std::thread spinner([base = node->base] { rclcpp::spin(base); });
  EXPECT_TRUE(eventually([&] { return ticks > 0; }));
  const std::weak_ptr<Early> weak = node;
  node.reset();
  EXPECT_FALSE(weak.expired());
  rclcpp::shutdown();
  spinner.join();
  EXPECT_TRUE(weak.expired());
}

TEST_F(Rclcpp, AndItStaysWhileItsCallbackRuns) {
  auto node = std::make_shared<Early>();
  Early& early = *node;
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(node->base);
  std::atomic<bool> is_inside{false}, is_dropped{false};
  auto timer = node->create_wall_timer(1ms, [&] {
    is_inside = true;
    EXPECT_TRUE(eventually([&] { return is_dropped || early.is_gone; }));
    EXPECT_FALSE(early.is_gone);
    executor.cancel();
  });
  std::thread spinning([&] { executor.spin(); });
  EXPECT_TRUE(eventually([&] { return is_inside.load(); }));
  node.reset();
  is_dropped = true;
  spinning.join();
}

}  // namespace
}  // namespace sinew::system
