// sinewd: introduces the nodes of a domain to each other.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>

#include "base/log.hpp"
#include "manager/server/config_file.hpp"
#include "manager/server/entrance.hpp"
#include "manager/server/server.hpp"
#include "os/clock.hpp"
#include "os/domain.hpp"
#include "os/event.hpp"
#include "os/memory.hpp"
#include "os/process.hpp"

namespace {

using namespace sinew;

constexpr const char* examples = R"(
The first node of a domain starts its manager by itself; nothing needs to be done. By hand it is of use to keep one running:
  sinewd                            serve the default domain until interrupted
  SINEW_DOMAIN=left_arm sinewd      serve the domain left_arm
  sinewd --socket /run/robot.sock   serve there; nodes find it with SINEW_DOMAIN=/run/robot.sock
  SINEW_LOG=info sinewd             and say who comes and goes
  sinewd --linger 60                end one minute after the last node
  sinewd --config robot.json        with rules of who may publish and subscribe to what (manager/README.md)
With systemd: a socket unit with ListenSequentialPacket=, and Service ExecStart=sinewd.)";

constexpr double linger_on_demand = 5;

struct Options {
  std::string socket;
  std::string config;
  std::optional<double> linger;
  bool listening_on_3 = false;
  bool daemon = false;
};

/// systemd's way of handing a socket over.
bool started_by_systemd() {
  const char* const pid = std::getenv("LISTEN_PID");
  const char* const count = std::getenv("LISTEN_FDS");
  if (pid == nullptr || count == nullptr || pid != std::to_string(os::this_process())) return false;
  if (count != std::string("1")) {
    throw Error(ErrorKind::invalid_argument,
                std::string("systemd passes ") + count + " sockets to sinewd; it takes one, so give it a socket unit of its own.");
  }
  return true;
}

/// False when it has ended since nobody could find it any more.
bool serve(Options options) {
  if (!options.daemon) base::check_log_level();  // else the node that started it says so
  const bool by_systemd = started_by_systemd();
  if (by_systemd || options.listening_on_3)
    options.socket.clear();
  else if (options.socket.empty())
    options.socket = os::domain_socket_path(std::getenv("SINEW_DOMAIN"));
  if (options.listening_on_3 && !options.linger) options.linger = linger_on_demand;
  if (options.daemon) os::take_ordinary_share_of_processor();  // and not that of the node that came first

  // Before the socket is there for nodes, and before the folder that a relative path begins at is left.
  manager::AccessRules access = manager::load_config(manager::find_config(options.config));
  manager::Entrance entrance =
      options.socket.empty() ? manager::Entrance::inherited(options.listening_on_3) : manager::Entrance::bind(options.socket);
  if (access.join) entrance.open_to_everybody();  // who is not in the list is told so
  const os::AddressRange range = os::probe_address_range();
  // Whoever reads the standard error of the first node to its end does not want to wait for the manager, too, unless it asks for a log.
  if (options.daemon) os::become_daemon(base::is_log_asked_for());
  base::log_without_waiting();
  os::allow_many_descriptors();

  const os::Fd stop_bell = os::create_eventfd();
  os::ring_when_asked_to_end(stop_bell);

  std::optional<manager::Time> linger;
  if (options.linger) linger = static_cast<manager::Time>(*options.linger * 1e9);
  std::printf("sinewd %s listens at %s\n", SINEW_VERSION, entrance.path().c_str());
  std::fflush(stdout);
  const manager::WindowRange windows{.base = range.base, .window_size = range.window_size, .count = range.count};
  return manager::Server(std::move(entrance), manager::Domain(windows, os::this_user(), std::move(access), linger, os::now_ns()), stop_bell)
      .run();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"sinewd, the manager of a sinew domain: introduces nodes to each other and is never on the data path."};
  Options options;
  app.add_option("--socket", options.socket, "Where to listen (default: what SINEW_DOMAIN says)")->type_name("PATH");
  app.add_option("--linger", options.linger, "End this long after the last node left (default: never)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 1e9).description(""));
  app.add_option("--config", options.config,
                 "Access rules (default: SINEW_CONFIG, else sinew/sinewd.json in $XDG_CONFIG_HOME or ~/.config, else in /etc)")
      ->type_name("FILE");
  app.set_version_flag("--version", std::string("sinewd ") + SINEW_VERSION);
  // How the library starts it; not for people.
  app.add_flag("--listening-on-3", options.listening_on_3)->group("");
  app.add_flag("--daemon", options.daemon)->group("");
  app.footer(examples);
  CLI11_PARSE(app, argc, argv);
  try {
    return serve(options) ? 0 : 1;
  } catch (const std::exception& error) {
    if (options.daemon) {  // for the node that started us; first, since nobody may read the other
      std::fputs(error.what(), stdout);
      std::fflush(stdout);
    }
    std::fprintf(stderr, "sinewd: %s\n", error.what());
    return 1;
  }
}
