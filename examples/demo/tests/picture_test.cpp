// The picture that the demo leaves shows the image, with the boxes at their places.
#include <gtest/gtest.h>
#include <png.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "picture.hpp"

namespace demo {
namespace {

TEST(Picture, BoxesAreDrawnOnTheImageAndNowhereElse) {
  const auto path = std::filesystem::path(testing::TempDir()) / ("demo_picture_test_" + std::to_string(::getpid()) + ".png");
  const Image image{.header = {}, .height = 50, .width = 80, .encoding = "rgb8", .data = std::vector<std::uint8_t>(50 * 80 * 3, 10)};
  write_annotated(path, image, std::array{Box{20, 10, 30, 20}, Box{70, 40, 1000, 1000}});

  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  ASSERT_NE(png_image_begin_read_from_file(&png, path.c_str()), 0);
  png.format = PNG_FORMAT_RGB;
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(png));
  ASSERT_NE(png_image_finish_read(&png, nullptr, pixels.data(), 0, nullptr), 0);
  std::filesystem::remove(path);
  ASSERT_EQ(png.width, 80U);
  const auto red = [&](std::size_t x, std::size_t y) { return pixels[(y * 80 + x) * 3]; };
  EXPECT_EQ(red(20, 10), 255);
  EXPECT_EQ(red(49, 29), 255);
  EXPECT_EQ(red(35, 20), 10) << "inside a box the image shows";
  EXPECT_EQ(red(50, 10), 10);
  EXPECT_EQ(red(79, 49), 255) << "a box is cut off at the edge of the image";
}

TEST(Picture, AFolderThatIsNotThereIsNamedInTheError) {
  const Image image{.header = {}, .height = 1, .width = 1, .encoding = "rgb8", .data = {1, 2, 3}};
  try {
    write_annotated("/nowhere/picture.png", image, {});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/picture.png"), std::string::npos);
  }
}

}  // namespace
}  // namespace demo
