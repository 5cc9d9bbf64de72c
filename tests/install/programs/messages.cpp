// Publishes an image and a track to itself, in messages that were made of definitions, and exits with 0 when they came as they were sent.
#include <chrono>
#include <cstdio>
#include <sensor_msgs/msg/image.hpp>
#include <sinew/sinew.hpp>
#include <std_srvs/srv/set_bool.hpp>
#include <string>
#include <thread>
#ifdef TRACKS
#include <track_msgs/msg/track.hpp>
#endif

using namespace std::chrono_literals;

int main() {
  auto node = sinew::Node::create("messages");
  auto image_publisher = node->create_publisher<sensor_msgs::msg::Image>("image");
  auto image_subscriber = node->create_subscriber<sensor_msgs::msg::Image>("image");
  auto loan = image_publisher->loan();
  loan.build([](sensor_msgs::msg::Image& image) {
    image.header.stamp.sec = -7;
    image.header.frame_id = "front";
    image.data.assign(5'500'000, 0x5a);
  });
  image_publisher->publish(std::move(loan));
  const auto image = image_subscriber->take(10s);
  if (!image || image->header.stamp.sec != -7 || image->header.frame_id != "front" || image->data.size() != 5'500'000) return 1;

  auto provider = node->create_service_provider<std_srvs::srv::SetBool::Request, std_srvs::srv::SetBool::Response>(
      "switch", [](const std_srvs::srv::SetBool::Request& request) {
        return std_srvs::srv::SetBool::Response{.success = request.data, .message = "switched"};
      });
  auto client = node->create_service_client<std_srvs::srv::SetBool::Request, std_srvs::srv::SetBool::Response>("switch");
  const auto response = client->call_and_wait({.data = true}, 10s);
  if (!response->success || response->message != "switched") return 2;

#ifdef TRACKS
  auto track_publisher = node->create_publisher<track_msgs::msg::Track>("track");
  auto track_subscriber = node->create_subscriber<track_msgs::msg::Track>("track");
  track_publisher->publish({.label = "car", .points = {{.x = 1}, {.x = 2}}});
  const auto track = track_subscriber->take(10s);
  if (!track || track->label != "car" || track->points.size() != 2 || track->state != track_msgs::msg::Track::MOVING) return 3;
#endif
  std::puts("all came");
  return 0;
}
