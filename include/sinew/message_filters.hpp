// Messages of several topics that belong together by their stamps, as ROS's message_filters has them: for nodes of sinew and of sinew/rclcpp.hpp.
//
//   namespace message_filters = sinew::message_filters;
//   message_filters::Subscriber<Image> left(node, "left"), right(node, "right");
//   message_filters::Synchronizer sync(message_filters::sync_policies::ApproximateTime<Image, Image>(10), left, right);
//   sync.registerCallback([](const std::shared_ptr<const Image>& left, const std::shared_ptr<const Image>& right) { ... });
#pragma once

#include "sinew/message_filters/connection.hpp"    // IWYU pragma: export
#include "sinew/message_filters/stamp.hpp"         // IWYU pragma: export
#include "sinew/message_filters/subscriber.hpp"    // IWYU pragma: export
#include "sinew/message_filters/synchronizer.hpp"  // IWYU pragma: export
