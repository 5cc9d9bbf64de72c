#include <chrono>
#include <stdexcept>
#include <utility>

#include "tests/system/destruction.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

/// As addition() and loaned_addition() make them.
bool is_whole(const Work::Request& request) {
  const auto number = static_cast<std::int64_t>(request.number);
  const auto& terms = request.terms;
  if (terms.size() < 3 || terms[0] != number || terms[1] != number || terms[2] != 1) return false;
  for (std::size_t at = 3; at < terms.size(); ++at) {
    if (terms[at] != term_of_none(at - 3, terms.size() - 3)) return false;
  }
  return true;
}

}  // namespace

bool RandomServices::make(Node& node, Thing& thing, Random& random) {
  switch (random() % 8) {
    case 0:
    case 1:
      thing.cell->overlaps = random() % 3 == 0;
      if (thing.cell->overlaps) thing.place = own_place_();
      make_provider(node, thing, random);
      return !thing.cell->overlaps;
    case 2:
      thing.place = own_place_();
      make_mover(node, thing);
      return false;
    case 3:
      thing.cell->overlaps = true;  // feedback of one goal and the result of another
      thing.of_results = own_place_();
      thing.mover = create_move_client(node, {.execution_thread = thing.place.second});
      return false;
    default:
      thing.place = own_place_();
      thing.client = node.create_service_client<Work::Request, Work::Response>(one_of_the_topics(random));
      return false;
  }
}

void RandomServices::make_provider(Node& node, Thing& thing, Random& random) const {
  const auto handler = [act = act_, cell = thing.cell, place = thing.place](const Work::Request& request,
                                                                            ServiceCall<Work::Response>& running) {
    const Call call(*cell);
    not_whole += !is_whole(request);
    Random own(request.number);
    act(cell->overlaps ? own : cell->random, place);
    not_whole += !is_whole(request);
    if (own() % 16 == 0) throw std::runtime_error("by chance");
    running.build([&](Work::Response& response) { response = result_of(request, "provider"); });
  };
  thing.server = node.create_service_provider<Work::Request, Work::Response>(
      one_of_the_topics(random), handler,
      {.execution_thread = thing.place.second, .parallel = thing.cell->overlaps ? 3U : 1U, .at_most_once = random() % 2 == 0});
}

void RandomServices::make_mover(Node& node, Thing& thing) const {
  thing.server = create_move_server(node, [act = act_, cell = thing.cell, place = thing.place](MoveGoal& goal) {
    const Call call(*cell);
    act(cell->random, place);
    Move::Result result{.number = goal->number, .server = "", .all = {}};
    while (result.steps < goal->steps && !goal.accept_cancel()) {
      goal.feedback({.number = goal->number, .step = ++result.steps, .all = {}});
    }
    return result;
  });
}

bool RandomServices::use(Thing& thing, Random& random, Place place) const {
  if (thing.client) {
    call(thing, random, place);
  } else if (thing.mover) {
    send_goal(thing, random);
  } else {
    return thing.server != nullptr;
  }
  return true;
}

void RandomServices::call(const Thing& thing, Random& random, Place place) const {
  WorkClient& client = *thing.client;
  const std::uint64_t number = random() % 1000, size = random() % 16 == 0 ? 200'000 : random() % 100;
  const auto answered = [act = act_, cell = thing.cell, own = thing.place, number](const std::shared_ptr<const Work::Response>& response,
                                                                                   const ServiceError*) {
    const Call call(*cell);
    answers += response ? 1 : 0;
    not_whole += response && response->number != number;
    act(cell->random, own);
    not_whole += response && response->total != static_cast<std::int64_t>(2 * number + 1);
  };
  switch (random() % 6) {
    case 0:
      client.call(addition(number, 1, size), answered);
      return;
    case 1:
      client.call(loaned_addition(client, number, size), answered, std::chrono::microseconds(random() % 3000));
      return;
    case 2:
      client.call(addition(number, 1, size));  // nobody looks at the future
      return;
    case 3:
      client.call_shared(loaned_addition(client, number, size)).cancel();
      return;
    case 4:
      client.cancel(client.statistics().calls);
      return;
    default:
      if (place != outside) return;  // which would wait for others
      try {
        not_whole += client.call_and_wait(loaned_addition(client, number, size), 1ms)->number != number;
      } catch (const ServiceError&) {
        return;  // it was late, or failed by chance
      }
  }
}

void RandomServices::send_goal(Thing& thing, Random& random) const {
  if (random() % 4 == 0) {
    thing.mover->cancel_all();
    return;
  }
  const std::uint64_t number = random() % 1000;
  const auto act = [act = act_, cell = thing.cell, seed = random()](Place own) {
    const Call call(*cell);
    Random chance(seed);
    act(chance, own);
  };
  std::vector<MoveHandle> goes;  // waits for a callback of the client, so not under the lock
  MoveHandle goal = thing.mover->send_goal(
      {.number = number, .steps = random() % 4, .what = ""},
      [act, number, own = thing.place](const Move::Feedback& feedback) {
        not_whole += feedback.number != number;
        act(own);
      },
      [act, number, own = thing.of_results](const MoveClient::Outcome& outcome, const ServiceError*) {
        results += outcome ? 1 : 0;
        not_whole += outcome && outcome->state == GoalState::succeeded && outcome->result.number != number;
        act(own);
      });
  const std::lock_guard lock(thing.mutex);
  thing.goals.push_back(std::move(goal));
  if (thing.goals.size() > 8) goes.swap(thing.goals);
}

}  // namespace sinew::system
