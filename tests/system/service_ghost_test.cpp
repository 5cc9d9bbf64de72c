// Clients and providers that are only there as long as others are.
#include <utility>

#include "tests/system/service.hpp"

namespace sinew::system {
namespace {

class ServiceGhosts : public Domain {
 protected:
  using Client = ServiceClient<std::uint64_t, std::uint64_t>;
  using Provider = ServiceProvider<std::uint64_t, std::uint64_t>;
  static std::shared_ptr<Client> client(Node& node, Ghost ghost) {
    ServiceClientOptions options;
    options.ghost = ghost;
    return node.create_service_client<std::uint64_t, std::uint64_t>("double", options);
  }
  static std::shared_ptr<Provider> provider(Node& node, Ghost ghost) {
    ServiceProviderOptions options;
    options.ghost = ghost;
    return node.create_service_provider<std::uint64_t, std::uint64_t>(
        "double", [](const std::uint64_t& number) { return 2 * number; }, options);
  }
};

TEST_F(ServiceGhosts, CannotBeCreatedWhereThereIsNoService) {
  auto node = Node::create("tool");
  for (const bool calls : {true, false}) {
    try {
      calls ? (void)client(*node, Ghost::carrier) : (void)provider(*node, Ghost::carrier);
      ADD_FAILURE() << "created";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unavailable);
    }
  }
  EXPECT_TRUE(node->domain_state().topics.empty()) << "nothing is left of the attempt";
}

TEST_F(ServiceGhosts, CallAndServeOthersButNoCarrierAnotherOne) {
  auto node = Node::create("node"), tool = Node::create("tool");
  auto real_provider = provider(*node, Ghost::no);
  auto ghost_client = client(*tool, Ghost::carrier);
  EXPECT_EQ(ghost_client->call(4).get(), 8u);
  auto real_client = client(*node, Ghost::no);
  EXPECT_EQ(real_client->call(5).get(), 10u);
  auto ghost_provider = provider(*tool, Ghost::carrier);
  real_provider.reset();
  EXPECT_EQ(real_client->call(6).get(), 12u) << "by the ghost";
  auto waits = ghost_client->call(7);
  EXPECT_EQ(waits.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  EXPECT_TRUE(eventually([&] { return ghost_client->statistics().providers == 0; }));
}

// A person at a tool calls what a gateway provides here, and a gateway what a tool provides.
TEST_F(ServiceGhosts, CallAndServeEachOtherWhereOneIsAnObserver) {
  for (const auto& [calls, serves] : {std::pair{Ghost::observer, Ghost::carrier}, std::pair{Ghost::carrier, Ghost::observer}}) {
    auto node = Node::create("node"), tool = Node::create("tool");
    auto keeper = client(*node, Ghost::no);
    auto its_provider = provider(*tool, serves);
    auto its_client = client(*tool, calls);
    EXPECT_EQ(its_client->call(7).get(), 14u);
  }
}

TEST_F(ServiceGhosts, AreDetachedWhenTheLastOtherGoes) {
  auto node = Node::create("node"), tool = Node::create("tool");
  auto keeper = client(*node, Ghost::no);
  auto ghost_client = client(*tool, Ghost::carrier);
  auto ghost_provider = provider(*tool, Ghost::carrier);
  EXPECT_EQ(keeper->call(3).get(), 6u);
  auto waits = ghost_client->call(1);
  keeper.reset();
  EXPECT_EQ(kind_of_error(std::move(waits)), ServiceError::Kind::disconnected);
  EXPECT_EQ(kind_of_error(ghost_client->call(2)), ServiceError::Kind::disconnected);
  EXPECT_THROW(ghost_client->call_and_wait(2), ServiceError);
  EXPECT_TRUE(ghost_client->statistics().detached);
  EXPECT_TRUE(eventually([&] { return ghost_provider->statistics().detached; }));
  EXPECT_TRUE(services_of(node->domain_state()).empty());
  auto other_type = node->create_service_client<double, double>("double");
}

}  // namespace
}  // namespace sinew::system
