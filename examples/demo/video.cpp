#include "video.hpp"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
}

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace demo {
namespace {

template <auto free_pointer>
struct Free {
  template <class T>
  void operator()(T* pointer) const {
    free_pointer(&pointer);
  }
};
struct FreeScaler {
  void operator()(SwsContext* scaler) const { sws_freeContext(scaler); }
};

}  // namespace

struct Video::Decoder {
  std::string path;
  std::unique_ptr<AVFormatContext, Free<avformat_close_input>> file;
  std::unique_ptr<AVCodecContext, Free<avcodec_free_context>> codec;
  std::unique_ptr<AVFrame, Free<av_frame_free>> frame;
  std::unique_ptr<AVPacket, Free<av_packet_free>> packet;
  std::unique_ptr<SwsContext, FreeScaler> scaler;
  int stream = -1;

  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error(path + " cannot be played: " + why + ". Run tools/fetch_demo_data.py to fetch it again.");
  }
};

Video::Video(const std::filesystem::path& path) : decoder_(std::make_unique<Decoder>()) {
  Decoder& d = *decoder_;
  d.path = path.string();
  AVFormatContext* file = nullptr;
  if (avformat_open_input(&file, d.path.c_str(), nullptr, nullptr) != 0) d.fail("it is missing or not a video file");
  d.file.reset(file);
  const AVCodec* codec = nullptr;
  if (avformat_find_stream_info(file, nullptr) < 0) d.fail("it has no readable streams");
  d.stream = av_find_best_stream(file, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
  if (d.stream < 0) d.fail("it has no video stream that libavcodec decodes here");
  d.codec.reset(avcodec_alloc_context3(codec));
  d.frame.reset(av_frame_alloc());
  d.packet.reset(av_packet_alloc());
  if (!d.codec || !d.frame || !d.packet) throw std::bad_alloc();
  const auto* stream = file->streams[d.stream];
  if (avcodec_parameters_to_context(d.codec.get(), stream->codecpar) < 0) d.fail("its video stream is damaged");
  d.codec->thread_count = 1;
  if (avcodec_open2(d.codec.get(), codec, nullptr) != 0) d.fail("its codec does not open");
}

Video::~Video() = default;

void Video::advance() {
  Decoder& d = *decoder_;
  // One rewind must lead to a frame; a file without any would be rewound for ever.
  for (bool rewound = false;;) {
    const int received = avcodec_receive_frame(d.codec.get(), d.frame.get());
    if (received == 0) return;
    if (received == AVERROR_EOF) {
      if (std::exchange(rewound, true)) d.fail("it has no frames");
      if (av_seek_frame(d.file.get(), d.stream, 0, AVSEEK_FLAG_BACKWARD) < 0) d.fail("it cannot be rewound");
      avcodec_flush_buffers(d.codec.get());
      continue;
    }
    if (received != AVERROR(EAGAIN)) d.fail("a frame is damaged");
    if (av_read_frame(d.file.get(), d.packet.get()) < 0) {
      avcodec_send_packet(d.codec.get(), nullptr);  // the end: ask for the frames still inside
      continue;
    }
    const bool ours = d.packet->stream_index == d.stream;
    const int sent = ours ? avcodec_send_packet(d.codec.get(), d.packet.get()) : 0;
    av_packet_unref(d.packet.get());
    if (sent < 0) d.fail("a packet is damaged");
  }
}

void Video::draw(std::span<std::uint8_t> rgb) {
  Decoder& d = *decoder_;
  if (rgb.size() != std::size_t{width} * height * 3) throw std::invalid_argument("draw() needs room for one full HD frame");
  const AVFrame& frame = *d.frame;
  const auto format = static_cast<AVPixelFormat>(frame.format);
  if (format != AV_PIX_FMT_YUV420P || frame.width * height < frame.height * width) d.fail("it is not 4:2:0 video at least as wide as 16:9");
  const int kept = frame.height * width / height / 2 * 2;
  const int left = (frame.width - kept) / 4 * 2;
  const std::array<const std::uint8_t*, 4> planes{frame.data[0] + left, frame.data[1] + left / 2, frame.data[2] + left / 2, nullptr};
  const std::array<std::uint8_t*, 4> to{rgb.data(), nullptr, nullptr, nullptr};
  const std::array<int, 4> to_stride{width * 3, 0, 0, 0};
  d.scaler.reset(sws_getCachedContext(d.scaler.release(), kept, frame.height, format, width, height, AV_PIX_FMT_RGB24, SWS_FAST_BILINEAR,
                                      nullptr, nullptr, nullptr));
  if (!d.scaler) d.fail("libswscale cannot scale it");
  sws_scale(d.scaler.get(), planes.data(), frame.linesize, 0, frame.height, to.data(), to_stride.data());
}

}  // namespace demo
