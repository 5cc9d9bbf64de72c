// Programs that are written for rclcpp: topics, timers, names.
#include <atomic>
#include <map>
#include <thread>

#include "tests/system/rclcpp.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;
using std::placeholders::_1;
using std::placeholders::_2;

// As in a thousand tutorials.
class Talker : public rclcpp::Node {
 public:
  Talker() : Node("talker"), count_(0) {
    publisher_ = this->create_publisher<String>("chatter", 10);
    timer_ = this->create_wall_timer(5ms, std::bind(&Talker::timer_callback, this));
  }

 private:
  void timer_callback() {
    auto message = String();
    message.data = "Hello World: " + std::to_string(count_++);
    RCLCPP_DEBUG(this->get_logger(), "Publishing: '%s'", message.data.c_str());
    publisher_->publish(message);
  }
  rclcpp::TimerBase::SharedPtr timer_;
  rclcpp::Publisher<String>::SharedPtr publisher_;
  size_t count_;
};

class Listener : public rclcpp::Node {
 public:
  Listener() : Node("listener") {
    subscription_ = this->create_subscription<String>("chatter", 10, std::bind(&Listener::topic_callback, this, _1));
  }

 private:
  void topic_callback(const String& message) const {
    say(message.data.substr(0, 13));
    if (++heard_ == 3) rclcpp::shutdown();
  }
  rclcpp::Subscription<String>::SharedPtr subscription_;
  mutable int heard_ = 0;
};

template <class Program>
void run() {
  begin({}, rclcpp::SignalHandlerOptions::All);
  rclcpp::spin(std::make_shared<Program>());
  rclcpp::shutdown();
}
ROLE(talker) {
  run<Talker>();
}
ROLE(listener) {
  run<Listener>();
}

TEST_F(Rclcpp, TheTalkerOfTheTutorialIsHeardByItsListenerAndBothEndAsAsked) {
  Child talker("talker"), listener("listener");
  for (int i = 0; i < 3; ++i) listener.expect("Hello World: ");
  EXPECT_EQ(listener.wait(), 0);
  talker.signal(SIGINT);
  EXPECT_EQ(talker.wait(), 0) << talker.errors();
}

struct Taken {
  std::map<std::string, const void*> by;
  template <class Pointer>
  void note(const std::string& form, const Pointer& message, const rclcpp::MessageInfo* info = nullptr) {
    EXPECT_EQ(message->data, "text");
    EXPECT_TRUE(!info || info->publisher == "node");
    by[form] = &*message;
  }

  void reference(const String& message) { note("member", &message); }
  void shared(std::shared_ptr<const String> message) { note("shared member", message); }
  void shared_reference(const std::shared_ptr<const String>& message) const { EXPECT_TRUE(message); }
  void own(std::shared_ptr<String> message) { note("own member", message); }
  void unique_with_info(std::unique_ptr<String> message, const rclcpp::MessageInfo& info) { note("unique member", message, &info); }
};

TEST_F(Rclcpp, EveryFormOfACallbackThatUsersWriteIsCalled) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  Taken taken;
  std::vector<rclcpp::Subscription<String>::SharedPtr> all;
  const auto add = [&](auto callback) { all.push_back(node->create_subscription<String>("topic", 10, std::move(callback))); };
  add([&](const String& message) { taken.note("reference", &message); });
  add([&](const String& message, const rclcpp::MessageInfo& info) { taken.note("reference, info", &message, &info); });
  add([&](String message) { taken.note("value", &message); });
  add([&](std::shared_ptr<const String> message) { taken.note("shared", message); });
  add([&](const std::shared_ptr<const String> message, const rclcpp::MessageInfo& info) { taken.note("shared, info", message, &info); });
  add([&](const std::shared_ptr<const String>& message) { taken.note("shared reference", message); });
  add([&](const std::shared_ptr<String> message) { taken.note("own", message), message->data = "changed"; });
  add([&](std::shared_ptr<String> message, const rclcpp::MessageInfo& info) {
    taken.note("own, info", message, &info), message->data = "changed";
  });
  add([&](std::unique_ptr<String> message) { taken.note("unique", message), message->data = "changed"; });
  add([&](std::unique_ptr<String> message, const rclcpp::MessageInfo& info) { taken.note("unique, info", message, &info); });
  add(std::bind(&Taken::reference, &taken, _1));
  add(std::bind(&Taken::shared, &taken, _1));
  add(std::bind(&Taken::shared_reference, &taken, _1));
  add(std::bind(&Taken::own, &taken, _1));
  add(std::bind(&Taken::unique_with_info, &taken, _1, _2));
  add(std::function<void(std::shared_ptr<const String>)>([&](std::shared_ptr<const String> message) { taken.note("function", message); }));

  const auto publisher = node->create_publisher<String>("topic", 10);
  await_subscriptions(publisher, all.size());
  publisher->publish(String{"text"});
  EXPECT_TRUE(spin_until(node, [&] { return taken.by.size() == all.size() - 1; })) << taken.by.size();
  // What is not to be changed is one object, what is own is everybody's own.
  EXPECT_EQ(taken.by["shared"], taken.by["reference"]);
  EXPECT_EQ(taken.by["shared reference"], taken.by["shared member"]);
  for (const auto* const form : {"own", "own, info", "unique", "own member", "unique member"})
    EXPECT_NE(taken.by[form], taken.by["shared"]);
}

TEST_F(Rclcpp, CallbacksRunInSpinAndNowhereElse) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<int> calls{0};
  std::thread::id thread;
  const auto called = [&] {
    thread = std::this_thread::get_id();
    ++calls;
  };
  const auto subscription = node->create_subscription<Int32>("topic", 10, [&](const Int32&) { called(); });
  const auto timer = node->create_wall_timer(1ms, called);
  const auto publisher = node->create_publisher<Int32>("topic", 10);
  await_subscriptions(publisher, 1);
  publisher->publish(Int32());
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(spin_until(node, [&] { return calls >= 5; }));
  EXPECT_EQ(thread, std::this_thread::get_id());
}

TEST_F(Rclcpp, SpinSomeRunsAllThatWaitsAndReturns) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  int received = 0;
  const auto subscription = node->create_subscription<Int32>("topic", 100, [&](const Int32&) { ++received; });
  const auto publisher = node->create_publisher<Int32>("topic", 100);
  await_subscriptions(publisher, 1);
  // It has some milliseconds for that, in which a loaded machine may do something else: then it is tried again.
  EXPECT_TRUE(eventually([&] {
    EXPECT_TRUE(spin_until(node, [&] { return received % 100 == 0; }));
    received = 0;
    for (int i = 0; i < 100; ++i) publisher->publish(Int32());
    rclcpp::spin_some(node);
    return received == 100;
  }));
  const auto busy = node->create_wall_timer(0s, [] {});
  rclcpp::spin_some(node);  // though there is always something to do
}

TEST_F(Rclcpp, TimersAreCancelledAndResetAlsoByThemselves) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  int plain = 0, own = 0;
  const auto timer = node->create_wall_timer(1ms, [&] { ++plain; });
  const auto once = node->create_wall_timer(std::chrono::duration<double>(0.001), [&](rclcpp::TimerBase& self) {
    ++own;
    self.cancel();
  });
  EXPECT_FALSE(timer->is_canceled());
  EXPECT_TRUE(spin_until(node, [&] { return plain > 2; }));
  EXPECT_EQ(own, 1);
  EXPECT_TRUE(once->is_canceled());
  timer->cancel();
  const int then = plain;
  once->reset();
  EXPECT_TRUE(spin_until(node, [&] { return own == 2; }));
  EXPECT_EQ(plain, then);
}

TEST_F(Rclcpp, TimersThatAreMadeWhileTheirNodeSpinsAreWholeWhenTheyAreCalled) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::thread spinning([&] { rclcpp::spin(node); });
  std::atomic<int> calls{0};
  const auto first = node->create_wall_timer(0s, [&](rclcpp::TimerBase& self) {
    self.cancel();
    ++calls;
  });
  EXPECT_TRUE(eventually([&] { return calls == 1; })) << "it does not spin";
  for (int i = 0; i < rounds(20'000); ++i) {
    const auto timer = node->create_wall_timer(0s, [&](rclcpp::TimerBase& self) {
      self.cancel();
      ++calls;
    });
  }
  const auto last = node->create_wall_timer(0s, [&](rclcpp::TimerBase& self) {
    self.cancel();
    rclcpp::shutdown();
  });
  spinning.join();
}

TEST_F(Rclcpp, WhoLetsGoOfATimerWaitsForItsCallbackAlsoWhereThatHasTheTimer) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::thread spinning([&] { rclcpp::spin(node); });
  for (const bool has_timer : {false, true}) {
    std::atomic<bool> is_inside{false}, is_over{false};
    const auto callback = [&] {
      is_inside = true;
      std::this_thread::sleep_for(50ms);
      is_over = true;
    };
    auto timer = has_timer ? node->create_wall_timer(1ms,
                                                     [&](rclcpp::TimerBase& self) {
                                                       callback();
                                                       self.cancel();
                                                     })
                           : node->create_wall_timer(1ms, callback);
    EXPECT_TRUE(eventually([&] { return is_inside.load(); }));
    timer.reset();
    EXPECT_TRUE(is_over) << has_timer;
  }
  rclcpp::shutdown();
  spinning.join();
}

TEST_F(Rclcpp, ATimerWithANegativePeriodIsRefused) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto sentence = sentence_of([&] { node->create_wall_timer(std::chrono::duration<double>(-0.001), [] {}); });
  EXPECT_NE(sentence.find("a timer's period of -1000000 ns is below 0"), std::string::npos) << sentence;
}

TEST_F(Rclcpp, LoanedMessagesAndGivenOnesArriveAndWhatIsBuiltInPlaceIsNotCopied) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto publisher = node->create_publisher<Image>("image", rclcpp::SensorDataQoS());
  EXPECT_TRUE(publisher->can_loan_messages());
  int received = 0;
  const void* object = nullptr;
  const auto subscription = node->create_subscription<Image>("image", rclcpp::SensorDataQoS(), [&](std::unique_ptr<Image> image) {
    EXPECT_EQ(image->data.size(), 100'000U);
    object = image.get();
    ++received;
  });
  await_subscriptions(publisher, 1);

  auto loaned = publisher->borrow_loaned_message();
  EXPECT_TRUE(loaned.is_valid());
  loaned.get().height = 100;
  loaned->data.resize(100'000);
  EXPECT_EQ(publisher->publish(std::move(loaned)), PublishResult::published);
  EXPECT_FALSE(loaned.is_valid());
  EXPECT_TRUE(spin_until(node, [&] { return received == 1; }));
  EXPECT_EQ(publisher->sinew_publisher()->statistics().messages_repaired, 0U);

  auto image = std::make_unique<Image>();
  image->data.resize(100'000);
  const void* const given = image.get();
  publisher->publish(std::move(image));
  EXPECT_TRUE(spin_until(node, [&] { return received == 2; }));
  EXPECT_EQ(object, given);
}

TEST_F(Rclcpp, ANodeHasTheNameAndTheNamespaceThatItWasGiven) {
  const auto plain = std::make_shared<rclcpp::Node>("plain");
  const auto front = std::make_shared<rclcpp::Node>("camera", "/front");
  EXPECT_STREQ(plain->get_name(), "plain");
  EXPECT_STREQ(plain->get_namespace(), "/");
  EXPECT_STREQ(plain->get_fully_qualified_name(), "/plain");
  EXPECT_STREQ(front->get_name(), "camera");
  EXPECT_STREQ(front->get_namespace(), "/front");
  EXPECT_STREQ(front->get_fully_qualified_name(), "/front/camera");
  EXPECT_STREQ(front->get_logger().get_name(), "front.camera");
  EXPECT_STREQ(front->create_publisher<Int32>("image", 1)->get_topic_name(), "/front/image");
  EXPECT_STREQ(front->create_publisher<Int32>("~/image", 1)->get_topic_name(), "/front/camera/image");
  EXPECT_STREQ(front->create_publisher<Int32>("/image", 1)->get_topic_name(), "/image");
  EXPECT_STREQ(front->create_subscription<Int32>("image", 1, [](const Int32&) {})->get_topic_name(), "/front/image");
  EXPECT_STREQ(front->create_client<AddTwoInts>("~/add")->get_service_name(), "/front/camera/add");
  EXPECT_NE(sentence_of([&] { front->create_publisher<Int32>("~image", 1); }).find("write '~/image'"), std::string::npos);
  EXPECT_NE(sentence_of([&] { const rclcpp::Node again("plain"); }).find("is taken"), std::string::npos);
}

}  // namespace
}  // namespace sinew::system
