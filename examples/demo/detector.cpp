// Detector: finds what moves in the camera's images.
#include "motion.hpp"
#include "node.hpp"

int main(int argc, char** argv) {
  return demo::run_node(argc, argv, "detector", [](demo::DemoNode& node) {
    demo::MotionDetector detector;
    auto& motions = node.output<demo::Motion>("detector/motion", 8);
    const demo::StopInputs stop_inputs{node};
    node.input<demo::Image>("camera/image", 4, [&](const std::shared_ptr<const demo::Image>& image, const demo::Arrival&) {
      const auto boxes = detector.find(*image);
      motions.publish([&](demo::Motion& motion) {
        motion.header.stamp_ns = image->header.stamp_ns;
        motion.image_width = image->width;
        motion.image_height = image->height;
        motion.boxes.assign(boxes.begin(), boxes.end());
      });
    });
    node.sleep_until_told_to_stop();
  });
}
