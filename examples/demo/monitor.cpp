// Monitor: listens to every topic, shows what flows, and keeps the frame with the clearest motion for a picture.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "node.hpp"
#include "picture.hpp"
#include "serialize.hpp"
#include "watch.hpp"

namespace {

using demo::DemoNode;

/// Pairs images with the motion found in them. Holding an image costs no copy: it stays where the camera built it.
class BestFrame {
 public:
  void add(std::shared_ptr<const demo::Image> image) {
    images_.push_back(std::move(image));
    if (images_.size() > 3) images_.pop_front();
  }
  void add(std::shared_ptr<const demo::Motion> motion) {
    const double score = clarity(*motion);
    if (score <= best_score_) return;
    for (const auto& image : images_) {
      if (image->header.stamp_ns != motion->header.stamp_ns) continue;
      best_score_ = score;
      best_image_ = image;
      best_motion_ = std::move(motion);
      return;
    }
  }
  void save(const std::filesystem::path& path) const {
    if (!best_image_) throw std::runtime_error("no image came together with the motion found in it, so there is no picture to save");
    demo::write_annotated(path, *best_image_, best_motion_->boxes);
  }

 private:
  /// The area of all boxes; 0 when they fill a quarter of the picture, since then it was the camera that moved.
  static double clarity(const demo::Motion& motion) {
    double area = 0;
    for (const demo::Box& box : motion.boxes) area += static_cast<double>(box.width) * box.height;
    return area < 0.25 * motion.image_width * motion.image_height ? area : 0;
  }

  std::deque<std::shared_ptr<const demo::Image>> images_;
  double best_score_ = -1;
  std::shared_ptr<const demo::Image> best_image_;
  std::shared_ptr<const demo::Motion> best_motion_;
};

class Monitor {
 public:
  explicit Monitor(DemoNode& node) : node_(node) {
    follow<demo::Image>("camera/image", 4, [this](auto image) { best_frame_.add(std::move(image)); });
    follow<demo::Cloud>("lidar/points", 4, [](const auto&) {});
    follow<demo::State>("drone/state", 64, [](const auto&) {});
    follow<demo::Motion>("detector/motion", 8, [this](auto motion) { best_frame_.add(std::move(motion)); });
    follow<demo::Obstacles>("lidar/obstacles", 8, [](const auto&) {});
    follow<demo::World>("fusion/world", 8, [this](const auto& world) { advice_ = world->advice; });
  }

  void show_until_told_to_stop() {
    const bool live = ::isatty(STDOUT_FILENO) == 1;
    const auto period = live ? std::chrono::milliseconds(500) : std::chrono::milliseconds(5000);
    bool drawn = false;
    for (auto next = DemoNode::Clock::now() + std::min(period, std::chrono::milliseconds(2000)); node_.sleep_until(next); next += period) {
      const std::vector<demo::Watch::Row> rows = current_rows();
      // Back over the last table; of its lines only the last one changes its length. In a file they stand one below the other.
      if (drawn) std::fputs(live ? ("\033[" + std::to_string(rows.size() + 2) + "A").c_str() : "\n", stdout);
      const std::string text = demo::table(rows) + "fusion says: " + advice() + (live ? "\033[K\n" : "\n");
      std::fputs(text.c_str(), stdout);
      std::fflush(stdout);
      drawn = true;
    }
  }

  void finish() {
    const auto now = DemoNode::Clock::now();
    node_.stop_inputs();
    for (const Followed& one : followed_) node_.note(one.watch.total(now));
    if (!node_.options().picture.empty()) best_frame_.save(node_.options().picture);
  }

 private:
  struct Followed {
    demo::Watch watch;
    const demo::Input* input = nullptr;
  };

  std::vector<demo::Watch::Row> current_rows() {
    std::vector<demo::Watch::Row> rows;
    for (Followed& one : followed_) {
      const std::uint64_t copied = one.input->count().bytes_copied;
      const std::lock_guard lock(mutex_);
      rows.push_back(one.watch.row(DemoNode::Clock::now(), copied));
    }
    return rows;
  }

  std::string advice() {
    const std::lock_guard lock(mutex_);
    return advice_;
  }

  template <class T, class Use>
  void follow(const std::string& topic, std::uint32_t depth, Use use) {
    Followed& one = followed_.emplace_back(Followed{demo::Watch(topic)});
    const demo::Input& input =
        node_.input<T>(topic, depth, [this, &one, use](const std::shared_ptr<const T>& message, const demo::Arrival& arrival) {
          const std::lock_guard lock(mutex_);
          one.watch.record(DemoNode::Clock::now(), arrival, demo::serialized_size(*message), message->header.copied_by_publisher);
          use(message);
        });
    one.input = &input;
  }

  DemoNode& node_;
  std::mutex mutex_;  // between the callbacks and the table
  std::list<Followed> followed_;
  BestFrame best_frame_;
  std::string advice_;
  const demo::StopInputs stop_inputs_{node_};  // last: the callbacks use the others
};

}  // namespace

int main(int argc, char** argv) {
  return demo::run_node(argc, argv, "monitor", [](DemoNode& node) {
    Monitor monitor(node);
    monitor.show_until_told_to_stop();
    monitor.finish();
  });
}
