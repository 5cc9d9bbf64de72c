// Camera: full HD colour at 30 Hz, each frame scaled straight into the message that the others read.
#include "node.hpp"
#include "video.hpp"

int main(int argc, char** argv) {
  return demo::run_node(argc, argv, "camera", [](demo::DemoNode& node) {
    demo::Video video(node.options().data / "bikes.mp4");
    auto& images = node.output<demo::Image>("camera/image", 4);
    node.every(std::chrono::nanoseconds(1'000'000'000 / 30), [&] {
      video.advance();
      images.publish([&](demo::Image& image) {
        image.header.stamp_ns = demo::now_ns();
        image.height = demo::Video::height;
        image.width = demo::Video::width;
        image.encoding = "rgb8";
        image.data.resize(std::size_t{image.height} * image.width * 3);
        video.draw(image.data);
      });
    });
  });
}
