// Programs that are written for rclcpp: what their arguments say of names, parameters and log lines.
#include <cmath>

#include "tests/system/rclcpp.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

/// A node that was made with such arguments.
class Given : public Domain {
 protected:
  std::shared_ptr<rclcpp::Node> node(std::initializer_list<const char*> arguments) {
    begin(arguments);
    return std::make_shared<rclcpp::Node>("node", "/here");
  }
  static std::string refusal(std::initializer_list<const char*> arguments) {
    std::string sentence = sentence_of([&] { begin(arguments); });
    rclcpp::shutdown();
    return sentence;
  }
  void TearDown() override {
    rclcpp::shutdown();
    Domain::TearDown();
  }
};

TEST_F(Given, TheCommandLineRenamesNodesTopicsAndServices) {
  const auto other =
      node({"--own", "--ros-args", "-r", "__node:=other", "--remap", "image:=/rear/image", "-r", "~/state:=~/status", "-r", "/add:=sum"});
  EXPECT_STREQ(other->get_fully_qualified_name(), "/here/other");
  EXPECT_STREQ(other->create_publisher<Int32>("image", 1)->get_topic_name(), "/rear/image");
  EXPECT_STREQ(other->create_publisher<Int32>("/here/image", 1)->get_topic_name(), "/rear/image");
  EXPECT_STREQ(other->create_publisher<Int32>("/image", 1)->get_topic_name(), "/image");
  EXPECT_STREQ(other->create_publisher<Int32>("~/state", 1)->get_topic_name(), "/here/other/status");
  EXPECT_STREQ(other->create_client<AddTwoInts>("/add")->get_service_name(), "/here/sum");
}

TEST_F(Given, TheCommandLinePutsNodesIntoItsNamespaceInPlaceOfTheirOwn) {
  const auto other = node({"--ros-args", "-r", "__ns:=/robot1", "-r", "image:=scan", "-r", "__name:=other"});
  EXPECT_STREQ(other->get_fully_qualified_name(), "/robot1/other");
  EXPECT_STREQ(other->get_namespace(), "/robot1");
  EXPECT_STREQ(other->get_logger().get_name(), "robot1.other");
  EXPECT_STREQ(other->create_publisher<Int32>("state", 1)->get_topic_name(), "/robot1/state");
  EXPECT_STREQ(other->create_publisher<Int32>("image", 1)->get_topic_name(), "/robot1/scan");
  EXPECT_STREQ(other->create_publisher<Int32>("/state", 1)->get_topic_name(), "/state");
  EXPECT_STREQ(other->create_publisher<Int32>("~/state", 1)->get_topic_name(), "/robot1/other/state");
  EXPECT_STREQ(other->create_client<AddTwoInts>("add")->get_service_name(), "/robot1/add");
  rclcpp::shutdown();
  begin({"--ros-args", "-r", "__ns:=/"});
  EXPECT_STREQ(rclcpp::Node("plain", "/here").get_fully_qualified_name(), "/plain");
}

TEST_F(Given, TheCommandLineSetsTheLevelsOfLoggers) {
  using enum rclcpp::Logger::Level;
  begin({"--ros-args", "--log-level", "WARN", "--log-level", "given.talker:=debug", "--", "--log-level", "mine"});
  EXPECT_EQ(rclcpp::get_logger("given.talker").get_effective_level(), Debug);
  EXPECT_EQ(rclcpp::get_logger("given.talker.child").get_effective_level(), Debug);
  EXPECT_EQ(rclcpp::get_logger("given").get_effective_level(), Warn);
  rclcpp::shutdown();
  begin({"--ros-args", "--log-level", "unset"});
  EXPECT_EQ(rclcpp::get_logger("given").get_effective_level(), Info);
}

TEST_F(Given, ParametersHaveTheValuesOfTheCommandLineOrElseOfTheProgram) {
  const auto with = node({"--ros-args", "-p", "rate:=2.5", "-p", "name:=left camera", "--param", "count:=-3", "-p", "on:=true", "-p",
                          "text:='12'", "-p", "weights:=[1, 0.5]", "-p", "names:=[a, 'b, c']", "-p", "none:=[]", "--", "rest"});
  EXPECT_EQ(with->declare_parameter("rate", 1.0), 2.5);
  EXPECT_EQ(with->declare_parameter<std::string>("name", "right"), "left camera");
  EXPECT_EQ(with->declare_parameter("count", 1), -3);
  EXPECT_EQ(with->declare_parameter<bool>("on"), true);
  EXPECT_EQ(with->declare_parameter("text", "0"), "12");
  EXPECT_EQ(with->declare_parameter("weights", std::vector<double>()), std::vector<double>({1, 0.5}));
  EXPECT_EQ(with->declare_parameter("names", std::vector<std::string>()), std::vector<std::string>({"a", "b, c"}));
  EXPECT_EQ(with->declare_parameter("none", std::vector<int>({1})), std::vector<std::int64_t>());
  EXPECT_EQ(with->declare_parameter("depth", 7), 7);

  EXPECT_EQ(with->get_parameter("rate").as_double(), 2.5);
  EXPECT_EQ(with->get_parameter("names").as_string_array().at(1), "b, c");
  int depth = 0;
  EXPECT_TRUE(with->get_parameter("depth", depth));
  EXPECT_EQ(depth, 7);
  std::string missing = "unchanged";
  EXPECT_FALSE(with->get_parameter("missing", missing));
  EXPECT_EQ(missing, "unchanged");
  EXPECT_FALSE(with->get_parameter_or<std::string>("missing", missing, "other"));
  EXPECT_EQ(missing, "other");
  EXPECT_TRUE(with->has_parameter("rate"));
  EXPECT_FALSE(with->has_parameter("missing"));
}

TEST_F(Given, ValuesAreReadAsRosReadsThem) {
  const auto with =
      node({"--ros-args", "-p", "hex:=0x1F",   "-p", "octal:=-010", "-p", "no_octal:=09", "-p", "on:=on",      "-p", "off:=No", "-p",
            "far:=inf",   "-p", "deep:=-.INF", "-p", "plus:=+.inf", "-p", "unknown:=nan", "-p", "text:='off'", "-p", "odd:=0x"});
  EXPECT_EQ(with->declare_parameter("hex", 0), 31);
  EXPECT_EQ(with->declare_parameter("octal", 0), -8);
  EXPECT_EQ(with->declare_parameter("no_octal", 0.0), 9.0);
  EXPECT_EQ(with->declare_parameter("on", false), true);
  EXPECT_EQ(with->declare_parameter("off", true), false);
  EXPECT_EQ(with->declare_parameter("far", 0.0), HUGE_VAL);
  EXPECT_EQ(with->declare_parameter("deep", 0.0), -HUGE_VAL);
  EXPECT_EQ(with->declare_parameter("plus", 0.0), HUGE_VAL);
  EXPECT_TRUE(std::isnan(with->declare_parameter("unknown", 0.0)));
  EXPECT_EQ(with->declare_parameter("text", "on"), "off");
  EXPECT_EQ(with->declare_parameter("odd", ""), "0x");
}

TEST_F(Given, ParametersThatDoNotFitAreRefusedWithASentence) {
  const auto with = node({"--ros-args", "-p", "rate:=2"});
  EXPECT_EQ(sentence_of([&] { with->declare_parameter("rate", 1.0); }),
            "parameter 'rate' is an integer, and was asked for as a double; write 1.0 for 1");
  with->declare_parameter("name", "x");
  EXPECT_NE(sentence_of([&] { with->declare_parameter("name", "x"); }).find("was declared before"), std::string::npos);
  EXPECT_NE(sentence_of([&] { with->get_parameter("name").as_int(); }).find("is a string, and was asked for as an integer"),
            std::string::npos);
  EXPECT_NE(sentence_of([&] { with->get_parameter("missing"); }).find("is not declared"), std::string::npos);
  EXPECT_NE(sentence_of([&] { with->declare_parameter<int>("needed"); }).find("-p needed:=VALUE"), std::string::npos);
}

TEST_F(Given, OptionsOfANodeGiveValuesAlsoInPlaceOfTheCommandLines) {
  begin({"--ros-args", "-p", "b:=2"});
  const rclcpp::Node with("node", rclcpp::NodeOptions().parameter_overrides({{"a", 10}, {"b", 20}}).use_intra_process_comms(true));
  rclcpp::Node& node = const_cast<rclcpp::Node&>(with);
  EXPECT_EQ(node.declare_parameter("a", 0), 10);
  EXPECT_EQ(node.declare_parameter("b", 0), 20);
}

TEST_F(Given, ThereIsNoTimeOfASimulationAndAParameterSaysSo) {
  const auto plain = node({});
  EXPECT_FALSE(plain->get_parameter("use_sim_time").as_bool());
  EXPECT_NE(sentence_of([] {
              const rclcpp::Node simulated("simulated", rclcpp::NodeOptions().parameter_overrides({{"use_sim_time", true}}));
            }).find("no time of a simulation"),
            std::string::npos);
}

TEST_F(Given, ArgumentsThatMeanNothingHereAreRefusedWithASentence) {
  EXPECT_NE(refusal({"--ros-args", "--params-file", "x.yaml"}).find("'--params-file' behind --ros-args is not understood"),
            std::string::npos);
  EXPECT_NE(refusal({"--ros-args", "-r", "__ns:=front"}).find("write '__ns:=/front'"), std::string::npos);
  EXPECT_NE(refusal({"--ros-args", "-r", "__host:=front"}).find("only names of topics and services, __node and __ns"), std::string::npos);
  EXPECT_NE(refusal({"--ros-args", "--log-level", "talker:=loud"}).find("'talker:=loud': there is no such level"), std::string::npos);
  EXPECT_NE(refusal({"--ros-args", "--log-level"}).find("needs LEVEL or LOGGER:=LEVEL"), std::string::npos);
  EXPECT_NE(refusal({"--ros-args", "-r", "camera:a:=b"}).find("write 'a:=b'"), std::string::npos);
  EXPECT_NE(refusal({"--ros-args", "-p", "a=1"}).find("is no parameter with a value"), std::string::npos);
  EXPECT_NE(refusal({"--ros-args", "-p"}).find("needs NAME:=VALUE"), std::string::npos);
  EXPECT_NE(refusal({"--ros-args", "-p", "a:=[1, x]"}).find("has values of several types"), std::string::npos);
  EXPECT_NE(refusal({"--ros-args", "-p", "use_sim_time:=true"}).find("no time of a simulation"), std::string::npos);
  EXPECT_EQ(refusal({"--params-file", "mine", "--ros-args", "-p", "use_sim_time:=false"}), "");
}

TEST_F(Given, ArgumentsOfTheProgramAreLeftToIt) {
  const char* const arguments[] = {"program", "-v", "--ros-args", "-p", "a:=1", "--", "file"};
  EXPECT_EQ(rclcpp::remove_ros_arguments(7, arguments), std::vector<std::string>({"program", "-v", "file"}));
  EXPECT_EQ(rclcpp::init_and_remove_ros_arguments(7, arguments), std::vector<std::string>({"program", "-v", "file"}));
}

TEST_F(Given, NothingWorksBeforeInitAndInitIsCalledOnce) {
  EXPECT_FALSE(rclcpp::ok());
  EXPECT_NE(sentence_of([] { const rclcpp::Node node("node"); }).find("rclcpp::init(argc, argv) was not called"), std::string::npos);
  begin();
  EXPECT_TRUE(rclcpp::ok());
  EXPECT_NE(sentence_of([] { begin(); }).find("was called before"), std::string::npos);
  EXPECT_TRUE(rclcpp::shutdown());
  EXPECT_FALSE(rclcpp::ok());
  EXPECT_FALSE(rclcpp::shutdown());
  begin();
  EXPECT_TRUE(rclcpp::ok());
}

/// What the domain knows of the endpoint on this topic.
DomainQos told(const rclcpp::Node& node, const std::string& topic) {
  const DomainState state = node.sinew_node().domain_state();
  for (const auto& endpoint : state.endpoints) {
    for (const auto& each : state.topics) {
      if (each.id == endpoint.topic && each.name == topic) return endpoint.qos;
    }
  }
  fail("there is no endpoint on " + topic);
}

TEST_F(Rclcpp, QosIsWhatItSays) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto published = [&](const rclcpp::QoS& qos) {
    const auto publisher = node->create_publisher<Int32>("topic", qos);
    return told(*node, "topic");
  };
  const auto subscribed = [&](const rclcpp::QoS& qos) {
    const auto subscription = node->create_subscription<Int32>("topic", qos, [](const Int32&) {});
    return told(*node, "topic");
  };
  const DomainQos plain = published(10);
  EXPECT_TRUE(plain.depth == 10 && plain.reliable && !plain.transient_local && plain.deadline == 0 && plain.lifespan == 0 &&
              plain.lease == 0);
  EXPECT_EQ(published(rclcpp::KeepLast(3)).depth, 3U);
  EXPECT_EQ(published(rclcpp::KeepAll()).depth, 0U);
  EXPECT_EQ(published(rclcpp::QoS(5).keep_all()).depth, 0U);
  EXPECT_EQ(published(1000).depth, 512U);
  EXPECT_FALSE(published(rclcpp::QoS(1).best_effort()).reliable);
  EXPECT_TRUE(published(rclcpp::QoS(1).best_effort().reliable()).reliable);
  EXPECT_TRUE(published(rclcpp::QoS(1).transient_local()).transient_local);
  EXPECT_FALSE(published(rclcpp::QoS(1).transient_local().durability_volatile()).transient_local);
  const DomainQos sensor = subscribed(rclcpp::SensorDataQoS());
  EXPECT_TRUE(sensor.depth == 5 && !sensor.reliable);
  EXPECT_EQ(subscribed(rclcpp::SensorDataQoS().keep_last(1)).depth, 1U);
  EXPECT_TRUE(published(rclcpp::SystemDefaultsQoS()).reliable);
  EXPECT_FALSE(subscribed(rclcpp::SystemDefaultsQoS()).reliable);
  const DomainQos timed = published(rclcpp::QoS(1)
                                        .deadline(100ms)
                                        .lifespan(rclcpp::Duration::from_seconds(0.5))
                                        .liveliness(rclcpp::LivelinessPolicy::ManualByTopic)
                                        .liveliness_lease_duration(2s));
  EXPECT_TRUE(timed.deadline == 100'000'000 && timed.lifespan == 500'000'000 && timed.manual_by_topic && timed.lease == 2'000'000'000);
  EXPECT_EQ(published(rclcpp::QoS(1).deadline(0s).lifespan(rclcpp::Duration::max())).lifespan, 0);
  EXPECT_NE(sentence_of([&] {
              published(rclcpp::QoS(1).liveliness(rclcpp::LivelinessPolicy::ManualByTopic));
            }).find("set liveliness_lease_duration()"),
            std::string::npos);
}

TEST_F(Rclcpp, PublishersAndSubscriptionsOfATopicAreCounted) {
  const auto node = std::make_shared<rclcpp::Node>("node", "front"), other = std::make_shared<rclcpp::Node>("other");
  const auto publisher = node->create_publisher<Int32>("topic", 1);
  const auto first = other->create_subscription<Int32>("/front/topic", 1, [](const Int32&) {});
  const auto second = node->create_subscription<Int32>("topic", 1, [](const Int32&) {});
  EXPECT_TRUE(eventually([&] { return node->count_subscribers("topic") == 2 && other->count_publishers("front/topic") == 1; }));
  EXPECT_EQ(node->count_publishers("other"), 0U);
}

TEST_F(Rclcpp, EventsAreToldInSpin) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::uint64_t publishers = 0, subscriptions = 0, missed = 0;
  rclcpp::SubscriptionOptions of_subscription;
  of_subscription.event_callbacks.matched_callback = [&](rclcpp::MatchedInfo& event) { publishers = event.current_count; };
  of_subscription.event_callbacks.deadline_callback = [&](rclcpp::QOSDeadlineRequestedInfo& event) { missed = event.total_count; };
  rclcpp::PublisherOptions of_publisher;
  of_publisher.event_callbacks.matched_callback = [&](rclcpp::MatchedInfo& event) { subscriptions = event.current_count; };
  const auto qos = rclcpp::QoS(1).deadline(20ms);
  const auto subscription = node->create_subscription<Int32>("topic", qos, [](const Int32&) {}, of_subscription);
  const auto publisher = node->create_publisher<Int32>("topic", qos, of_publisher);
  EXPECT_TRUE(spin_until(node, [&] { return publishers == 1 && subscriptions == 1; }));
  EXPECT_EQ(subscription->get_publisher_count(), 1U);
  publisher->publish(Int32());
  EXPECT_TRUE(spin_until(node, [&] { return missed >= 2; }));
}

}  // namespace
}  // namespace sinew::system
