// All of sinew: include this.
#pragma once

#include "sinew/action_client.hpp"       // IWYU pragma: export
#include "sinew/action_messages.hpp"     // IWYU pragma: export
#include "sinew/action_server.hpp"       // IWYU pragma: export
#include "sinew/buffer.hpp"              // IWYU pragma: export
#include "sinew/domain.hpp"              // IWYU pragma: export
#include "sinew/domain_counters.hpp"     // IWYU pragma: export
#include "sinew/domain_watch.hpp"        // IWYU pragma: export
#include "sinew/error.hpp"               // IWYU pragma: export
#include "sinew/events.hpp"              // IWYU pragma: export
#include "sinew/executor.hpp"            // IWYU pragma: export
#include "sinew/ghost.hpp"               // IWYU pragma: export
#include "sinew/message.hpp"             // IWYU pragma: export
#include "sinew/message_info.hpp"        // IWYU pragma: export
#include "sinew/node.hpp"                // IWYU pragma: export
#include "sinew/publisher.hpp"           // IWYU pragma: export
#include "sinew/qos.hpp"                 // IWYU pragma: export
#include "sinew/service.hpp"             // IWYU pragma: export
#include "sinew/service_error.hpp"       // IWYU pragma: export
#include "sinew/service_statistics.hpp"  // IWYU pragma: export
#include "sinew/subscriber.hpp"          // IWYU pragma: export
#include "sinew/timer.hpp"               // IWYU pragma: export
#include "sinew/wait_for_message.hpp"    // IWYU pragma: export
