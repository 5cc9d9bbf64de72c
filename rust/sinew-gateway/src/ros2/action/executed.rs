//! Goals that come from ROS 2, and are executed in the domain.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use futures_util::future::join_all;
use sinew::raw::{Client, ClientOptions, Frame, Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use sinew::{Ghost, Qos};

use super::carrier::Carrier;
use super::clock::{Clock, Stamp};
use super::goals::{Answer, Goals};
use super::messages::{self, GoalId, state};
use super::part::{Part, part_of, services_of};
use super::types::ActionTypes;
use crate::bridge::{Channel, Due, Key, Look};
use crate::channels::{Counts, State};
use crate::ros2::calls::{Asked, CLOSED, Caller, Ending, Tasks};

const STATUS: &str = "sinew/ActionStatus{goals:sinew/GoalStatus{id:uint8[16];accepted_at:int64;state:sinew/GoalState(uint8);}[];}";
/// Of a wish to cancel.
pub const CANCEL: &str = "sinew/ActionCancel{id:uint8[16];sent_at:int64;}";
/// Wishes that are kept (A4).
pub const WISHES: u32 = 512;

/// Goals under way, and what is asked about goals, that are worked at at a time.
const MOST: usize = 4096;

/// What has become of a wish, where nothing is cancelled: numbers of action_msgs/srv/CancelGoal.
const UNKNOWN_GOAL: u8 = 2;
const ENDED_GOAL: u8 = 3;

/// Offers the action to those there, as a ghost client of the domain's servers.
pub struct Executed<C: Carrier> {
    // First, so that nothing is asked any more.
    repliers: Vec<C::Replier>,
    statuses: Subscriber,
    executing: Arc<Executing<C::Caller>>,
    tasks: Tasks,
    carrier: C,
    key: Key,
}

/// What all goals need.
struct Executing<By> {
    action: String,
    client: Client,
    wishes: Publisher,
    types: ActionTypes,
    goals: Mutex<Goals<By>>,
    counts: Arc<Counts>,
    ending: Arc<Ending>,
}

impl<C: Carrier> Executed<C> {
    /// `look` is called when somebody there comes or goes; it changes nothing. Blocks until the manager has agreed.
    pub fn open(carrier: &C, key: &Key, due: &Due, look: Look) -> Result<Executed<C>, String> {
        let (action, _) = Part::of(&key.1, &due.signature).ok_or("it is of no action")?;
        let types = ActionTypes::of(carrier.types(), &due.signature, &due.response)?;
        let node = carrier.node();
        let failed = |why: sinew::Error| why.to_string();
        let options = ClientOptions { ghost: Ghost::Carrier, ..ClientOptions::default() };
        let client = Client::new(node, &key.1, &due.signature, &due.response, &options).map_err(failed)?;
        let options = PublisherOptions { ghost: Ghost::Carrier, ..PublisherOptions::default() };
        let wishes = Publisher::new(node, &part_of(action, "cancel"), CANCEL, &kept(WISHES), options).map_err(failed)?;
        let counts = Arc::<Counts>::default();
        let (goals, tasks) = (Mutex::default(), Tasks::new(carrier.runtime(), MOST));
        let ending = tasks.ending();
        let executing = Arc::new(Executing { action: action.to_owned(), client, wishes, types, goals, counts, ending });
        let (seeing, options) = (Arc::clone(&executing), SubscriberOptions { ghost: Ghost::Carrier, ..SubscriberOptions::default() });
        let see = move |frame: Frame| seeing.see(&frame);
        let statuses = Subscriber::with_callback(node, &part_of(action, "status"), STATUS, &kept(1), options, see).map_err(failed)?;

        let carrier = carrier.clone();
        let mut executed = Executed { repliers: Vec::new(), statuses, executing, tasks, carrier, key: key.clone() };
        executed.answer(action, look)?;
        Ok(executed)
    }

    fn answer(&mut self, action: &str, look: Look) -> Result<(), String> {
        let Executing { types, counts, .. } = &*self.executing;
        let (carrier, key, tasks) = (&self.carrier, &self.key, &self.tasks);
        let [on_goal, on_result, on_cancel] = [(); 3].map(|()| Arc::clone(&self.executing));
        let named = services_of(action);
        let [goals, results, cancels] = types.services(&named);
        let on_goal = move |asked| Arc::clone(&on_goal).send_goal(asked);
        self.repliers.push(carrier.replier(key, goals, counts, tasks, Arc::clone(&look), on_goal)?);
        let on_result = move |asked| Arc::clone(&on_result).get_result(asked);
        self.repliers.push(carrier.replier(key, results, counts, tasks, Arc::clone(&look), on_result)?);
        let on_cancel = move |asked| Arc::clone(&on_cancel).cancel_goal(asked);
        self.repliers.push(carrier.replier(key, cancels, counts, tasks, look, on_cancel)?);
        Ok(())
    }
}

/// As topics of actions are (A4).
pub fn kept(depth: u32) -> Qos {
    Qos { reliable: true, transient_local: true, ..Qos::keep_last(depth) }
}

impl<C: Carrier> Channel for Executed<C> {
    fn is_on_its_topic(&self) -> Option<bool> {
        let Executing { client, wishes, .. } = &*self.executing;
        Some(!(client.statistics().detached || wishes.statistics().detached || self.statuses.statistics().detached))
    }

    fn has_gone(&self, _since: Instant) -> bool {
        self.tasks.have_ended()
    }

    fn give_up(&mut self) {
        self.tasks.give_up();
    }

    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        Some((State::Open, self.executing.counts.told()))
    }
}

impl<C: Carrier> Drop for Executed<C> {
    fn drop(&mut self) {
        self.carrier.closed(&self.key);
    }
}

impl<By: Caller> Executing<By> {
    fn goals(&self) -> MutexGuard<'_, Goals<By>> {
        self.goals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn see(&self, frame: &Frame) {
        match frame.reader().and_then(messages::statuses) {
            Ok(statuses) => self.goals().see(statuses),
            Err(why) => log::warn!("how goals of '{}' stand cannot be read: {why}", self.action),
        }
    }

    async fn tell(&self, to: &By, stream: &[u8]) {
        if let Err(why) = to.answer(&[stream]).await {
            to.refuse(&why);
        }
    }

    /// A goal goes on when who has sent it is gone, as in ROS 2; but not when this is, whose call it is.
    async fn send_goal(self: Arc<Executing<By>>, asked: Asked<By>) {
        let Asked { request, by } = asked;
        let size = request.len();
        let sent = messages::goal_in(&request, Clock::now().monotonic());
        drop(request);
        let begun = sent.and_then(|(id, request)| Some((id, request, self.goals().send(id)?)));
        let Some((id, request, accepted)) = begun else {
            log::info!("a goal of '{}' is not accepted: it was sent before, has no id, or is one too many", self.action);
            return self.tell(&by, &messages::accepted(false, Stamp::default())).await;
        };
        let mut response = match self.client.start(request, None) {
            Ok(response) => response,
            Err(why) => return self.reject(&id, &by, &why.to_string()).await,
        };
        // Its server tells that it is accepted before it answers, but what it tells may be lost.
        let (accepted_at, early) = tokio::select! {
            biased;
            at = accepted => (at.ok(), None),
            answer = &mut response => (None, Some(answer)),
            () = self.ending.begun() => return self.reject(&id, &by, CLOSED).await,
        };
        if let Some(why) = early.as_ref().and_then(|answer| why_rejected(answer, &self.types)) {
            return self.reject(&id, &by, &why).await;
        }
        let clock = Clock::now();
        let stamp = clock.stamp(accepted_at.unwrap_or(clock.monotonic()));
        self.tell(&by, &messages::accepted(true, stamp)).await;
        let answer = match early {
            Some(answer) => answer.map_err(|why| why.to_string()),
            None => tokio::select! {
                biased;
                answer = response => answer.map_err(|why| why.to_string()),
                () = self.ending.begun() => Err(CLOSED.to_owned()),
            },
        };
        self.end(id, size, answer).await;
    }

    async fn reject(&self, id: &GoalId, by: &By, why: &str) {
        log::info!("a goal of '{}' is not accepted: {why}", self.action);
        self.goals().forget(id);
        self.tell(by, &messages::accepted(false, Stamp::default())).await;
    }

    /// Tells those who have asked what it has ended with.
    async fn end(&self, id: GoalId, size: usize, answer: Result<Frame, String>) {
        let told = answer.and_then(|frame| {
            frame.reader().and_then(|reader| messages::result_out(reader, &self.types.result)).map_err(|why| why.to_string())
        });
        let result = told.unwrap_or_else(|why| {
            log::warn!("a goal of '{}' has no result: {why}", self.action);
            self.without_result(state::ABORTED)
        });
        self.counts.answered(size + result.len());
        let result = Arc::new(result);
        let waiting = self.goals().end(id, Arc::clone(&result));
        // Who has gone is waited for, and nobody else is to wait for that.
        join_all(waiting.iter().map(|by| self.tell(by, &result))).await;
    }

    fn without_result(&self, state: u8) -> Vec<u8> {
        messages::without_result(&self.types.get_result.response.ty, state, "").unwrap_or_default()
    }

    async fn get_result(self: Arc<Executing<By>>, asked: Asked<By>) {
        let id = messages::id_in(&asked.request).unwrap_or_default();
        let answer = self.goals().result(&id, asked.by.clone());
        let result = match answer {
            Answer::Later => return,
            Answer::Now(result) => result,
            Answer::Unknown => Arc::new(self.without_result(state::UNKNOWN)),
        };
        self.tell(&asked.by, &result).await;
    }

    async fn cancel_goal(self: Arc<Executing<By>>, asked: Asked<By>) {
        let clock = Clock::now();
        let Ok((id, stamp)) = messages::cancel_of(&asked.request) else { return };
        let (is_one, is_until) = (id != GoalId::default(), stamp != Stamp::default());
        let until = match (is_one, is_until) {
            (_, true) => Some(clock.monotonic_of(stamp)),
            (false, false) => Some(clock.monotonic()),
            (true, false) => None,
        };
        let (meant, is_known) = {
            let goals = self.goals();
            (goals.meant(&id, until), goals.is_known(&id))
        };
        if is_one {
            self.wish(&messages::wish(&id, clock.monotonic()));
        }
        if let Some(until) = until {
            self.wish(&messages::wish(&GoalId::default(), until));
        }
        let code = match (meant.is_empty() && is_one, is_known) {
            (false, _) => 0,
            (true, true) => ENDED_GOAL,
            (true, false) => UNKNOWN_GOAL,
        };
        let goals: Vec<_> = meant.iter().map(|goal| (goal.id, clock.stamp(goal.accepted_at))).collect();
        self.tell(&asked.by, &messages::cancelling(code, &goals)).await;
    }

    fn wish(&self, wish: &[u8]) {
        if let Err(why) = self.wishes.publish(&[wish]) {
            log::warn!("a wish to cancel goals of '{}' could not be published: {why}", self.action);
        }
    }
}

/// None: a server has executed the goal.
fn why_rejected(answer: &sinew::Result<Frame>, types: &ActionTypes) -> Option<String> {
    let frame = match answer {
        Ok(frame) => frame,
        Err(why) => return Some(why.to_string()),
    };
    let is_rejected = frame.reader().and_then(|mut reader| reader.number::<u8>()).is_ok_and(|it| it == state::REJECTED);
    is_rejected.then(|| frame.reader().and_then(|reader| messages::text_of(reader, &types.result)).unwrap_or_default())
}
