//! Goals that come from the domain, and are executed in DDS.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sinew::raw::{self, Frame, Provider, Subscriber, SubscriberOptions};
use sinew::{ErrorKind, Qos};
use tokio::runtime::Handle;

use super::clock::{Clock, Stamp};
use super::executed::{CANCEL, WISHES, kept};
use super::feedbacks::Feedbacks;
use super::messages::{self, GoalId, state};
use super::part::{Part, part_of};
use super::types::ActionTypes;
use crate::bridge::{Channel, Due, Key, Look};
use crate::channels::{Counts, State};
use crate::dds::network::Place;
use crate::dds::provided::{self, cancelled};
use crate::dds::requester::{Requester, server};
use crate::dds::strangers::Convention;
use crate::ros2::types::RosType;

/// Within which a server answers a wish to cancel.
const PATIENCE: Duration = Duration::from_secs(5);

/// Accepts goals as a ghost server of the domain while a server there does: until then they wait, as they do for any.
pub struct Sent {
    // In the order in which they go.
    provider: Option<Provider>,
    wishes: Option<Subscriber>,
    line: Option<Arc<Line>>,
    refused: Option<String>,
    counts: Arc<Counts>,
    types: Arc<ActionTypes>,
    action: String,
    look: Look,
    place: Place,
    key: Key,
    due: Due,
}

/// To the server there.
struct Line {
    action: String,
    goals: Requester,
    results: Requester,
    cancels: Requester,
    types: Arc<ActionTypes>,
    feedbacks: Arc<Feedbacks>,
    counts: Arc<Counts>,
    book: Mutex<Book>,
}

/// What is known of goals and wishes. A wish may come before its goal (A13), and before the goal is accepted, when no server there would know it.
#[derive(Default)]
struct Book {
    sent: HashMap<GoalId, Goal>,
    early: VecDeque<GoalId>,
    /// All that were sent until then are not wanted.
    until: i64,
}

struct Goal {
    sent_at: i64,
    is_accepted: bool,
    is_unwanted: bool,
}

impl Book {
    fn send(&mut self, id: GoalId, sent_at: i64) {
        let is_unwanted = self.early.contains(&id) || sent_at <= self.until;
        self.sent.insert(id, Goal { sent_at, is_accepted: false, is_unwanted });
    }

    /// Whether it is to be cancelled at once.
    fn accept(&mut self, id: &GoalId) -> bool {
        self.sent.get_mut(id).is_some_and(|goal| {
            goal.is_accepted = true;
            goal.is_unwanted
        })
    }

    /// A wish about one. Whether servers there are to be told now.
    fn wish(&mut self, id: GoalId) -> bool {
        let Some(goal) = self.sent.get_mut(&id) else {
            self.early.push_back(id);
            if self.early.len() > WISHES as usize {
                self.early.pop_front();
            }
            return true;
        };
        goal.is_unwanted = true;
        goal.is_accepted
    }

    /// A wish about all.
    fn wish_all(&mut self, sent_at: i64) {
        self.until = self.until.max(sent_at);
        for goal in self.sent.values_mut().filter(|goal| goal.sent_at <= sent_at) {
            goal.is_unwanted = true;
        }
    }
}

impl Sent {
    /// `look` is called when [`Sent::look`] is to be.
    pub fn open(place: &Place, key: &Key, due: &Due, look: Look) -> Result<Sent, String> {
        let (action, _) = Part::of(&key.1, &due.signature).ok_or("it is of no action")?;
        let types = Arc::new(ActionTypes::of(&place.types, &due.signature, &due.response)?);
        let mut sent = Sent {
            provider: None,
            wishes: None,
            line: None,
            refused: None,
            counts: Arc::default(),
            types,
            action: action.to_owned(),
            look,
            place: place.clone(),
            key: key.clone(),
            due: due.clone(),
        };
        sent.look();
        Ok(sent)
    }

    fn services(&self) -> [(String, [&RosType; 2]); 3] {
        let types = &self.types;
        [("send_goal", &types.send_goal), ("get_result", &types.get_result), ("cancel_goal", &types.cancel_goal)]
            .map(|(service, pair)| (part_of(&self.action, service), pair.each_ref()))
    }

    /// How the server's requests and replies are told apart. None: there is none that fits; and, where there is one, why it does not.
    fn servers(&self) -> (Option<[Convention; 3]>, Option<String>) {
        let [goal, result, cancel] = self.services().map(|(name, types)| server(&self.place, &name, types));
        let found = [&goal, &result, &cancel].map(|(convention, _)| *convention);
        let conventions = if let [Some(goal), Some(result), Some(cancel)] = found { Some([goal, result, cancel]) } else { None };
        let why = [goal.1, result.1, cancel.1].into_iter().flatten().next().filter(|_| conventions.is_none());
        (conventions, why)
    }

    fn lined(&self, conventions: [Convention; 3]) -> Result<Line, String> {
        let services = self.services();
        let open = |at: usize| {
            let (name, types) = &services[at];
            Requester::open(&self.place, &self.key, (name, *types), conventions[at], Arc::clone(&self.look))
        };
        Ok(Line {
            action: self.action.clone(),
            goals: open(0)?,
            results: open(1)?,
            cancels: open(2)?,
            types: Arc::clone(&self.types),
            feedbacks: self.place.actions.of(&self.action),
            counts: Arc::clone(&self.counts),
            book: Mutex::default(),
        })
    }

    /// To wishes from now on: what was wished before is about goals that have ended, or were never sent there. None: nobody here wishes anything yet; [`look`](Sent::look) is called when somebody does.
    fn listen(&self, line: &Arc<Line>) -> Option<Subscriber> {
        let (qos, options) =
            (Qos { transient_local: false, ..kept(WISHES) }, SubscriberOptions { ghost: true, ..SubscriberOptions::default() });
        let (wished, runtime) = (Arc::clone(line), self.place.runtime.clone());
        let wish = move |frame: Frame| Line::wish(&wished, &frame, &runtime);
        let wishes = Subscriber::with_callback(&self.place.node, &part_of(&self.action, "cancel"), CANCEL, &qos, options, wish);
        if let Some(why) = wishes.as_ref().err().filter(|why| why.kind() != ErrorKind::Unavailable) {
            log::warn!("wishes to cancel goals of '{}' are not heard: {why}", self.action);
        }
        wishes.ok()
    }

    fn provide(&self, line: &Arc<Line>) -> sinew::Result<Provider> {
        let (line, runtime) = (Arc::clone(line), self.place.runtime.clone());
        provided::provided(&self.place, &self.key, &self.due, move |call| {
            let carried = Arc::clone(&line);
            runtime.spawn(async move { carried.carry(call).await });
        })
    }
}

impl Channel for Sent {
    fn look(&mut self) {
        let (conventions, why) = self.servers();
        let is_other = self.line.as_ref().is_some_and(|line| Some(line.conventions()) != conventions);
        if is_other {
            self.provider = None;
            self.wishes = None;
            if let Some(line) = self.line.take() {
                line.all().iter().for_each(|requester| requester.give_up());
            }
            self.place.graph.closed(&self.key);
        }
        self.refused = why;
        let Some(conventions) = conventions else { return };
        if self.line.is_none() {
            match self.lined(conventions) {
                Ok(line) => self.line = Some(Arc::new(line)),
                Err(why) => {
                    self.place.graph.closed(&self.key);
                    self.refused = Some(format!("'{}' cannot be opened: {why}", self.action));
                }
            }
        }
        let ready = self.line.as_ref().filter(|line| line.all().iter().all(|requester| requester.is_ready()));
        let Some(line) = ready else { return };
        if self.wishes.as_ref().is_none_or(|wishes| wishes.statistics().detached) {
            self.wishes = self.listen(line);
        }
        if self.provider.is_none() {
            match self.provide(line) {
                Ok(provider) => self.provider = Some(provider),
                Err(why) => {
                    let text = format!("'{}' cannot be provided in this domain: {why}", self.action);
                    log::warn!("{text}");
                    self.refused = Some(text);
                }
            }
        }
    }

    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        Some((provided::state(self.provider.is_some(), self.refused.as_ref()), self.counts.told()))
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        // First, so that goals end as those of any server that has gone.
        self.provider = None;
        if let Some(line) = &self.line {
            line.all().iter().for_each(|requester| requester.give_up());
        }
        self.place.graph.closed(&self.key);
    }
}

impl Line {
    fn all(&self) -> [&Requester; 3] {
        [&self.goals, &self.results, &self.cancels]
    }

    fn conventions(&self) -> [Convention; 3] {
        self.all().map(Requester::convention)
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Carries a goal to the server, and its result back.
    async fn carry(&self, call: raw::Call) {
        let Ok((id, sent_at)) = call.reader().and_then(messages::begin_of) else { return self.fail(call, "the goal has no id") };
        if id == GoalId::default() {
            return self.fail(call, "the goal has no id");
        }
        self.book().send(id, sent_at);
        let outcome = {
            let execution = self.execute(&id, &call);
            tokio::pin!(execution);
            tokio::select! {
                outcome = &mut execution => Some(outcome),
                () = cancelled(&call) => {
                    // Who has sent it has gone, so it is to give up (A15): as soon as it is accepted, since before that no server there would know it.
                    let is_accepted = self.book().wish(id);
                    if is_accepted {
                        self.cancel(&id, Stamp::default()).await;
                    } else {
                        let _ = tokio::time::timeout(PATIENCE, execution).await;
                    }
                    None
                }
            }
        };
        self.book().sent.remove(&id);
        match outcome {
            None => {}
            Some(Err(why)) => self.fail(call, &why),
            Some(Ok(response)) => {
                self.counts.answered(response.len() + call.extents().map(<[u8]>::len).sum::<usize>());
                if let Err(error) = call.answer(&[&response]) {
                    log::debug!("a result of '{}' could not be delivered: {error}", self.action);
                }
            }
        }
    }

    async fn execute(&self, id: &GoalId, call: &raw::Call) -> Result<Vec<u8>, String> {
        let mut asked = self.goals.ask(messages::goal_out(call.extents(), &self.types.goal).into_iter())?;
        let response = self.goals.reply(&mut asked).await?;
        if !messages::is_accepted(&response) {
            let text = "the server there does not accept the goal";
            return messages::without_result(&self.types.response, state::REJECTED, text).ok_or_else(|| text.to_owned());
        }
        let is_to_be_cancelled = self.book().accept(id);
        if is_to_be_cancelled {
            self.cancel(id, Stamp::default()).await;
        }
        let request = messages::result_of(id);
        let mut asked = self.results.ask([&request[..]].into_iter())?;
        let response = self.results.reply(&mut asked).await?;
        let (server, last) = (self.feedbacks.server(), self.feedbacks.last_of(id));
        messages::result_in(&response, &self.types.result, server, last, Clock::now().monotonic()).map_err(|why| why.to_string())
    }

    fn fail(&self, call: raw::Call, why: &str) {
        self.counts.unanswered();
        if let Err(error) = call.fail(why) {
            log::debug!("an error of '{}' could not be delivered: {error}", self.action);
        }
    }

    /// Somebody in the domain wishes goals to be cancelled, perhaps those of others.
    fn wish(line: &Arc<Line>, frame: &Frame, runtime: &Handle) {
        let wish = frame.reader().and_then(messages::begin_of);
        let Ok((id, sent_at)) = wish.inspect_err(|why| log::warn!("a wish to cancel cannot be read: {why}")) else { return };
        let stamp = if id == GoalId::default() {
            let clock = Clock::now();
            let until = sent_at.min(clock.monotonic()); // (A12)
            line.book().wish_all(until);
            clock.stamp(until)
        } else if line.book().wish(id) {
            Stamp::default()
        } else {
            return;
        };
        let line = Arc::clone(line);
        runtime.spawn(async move { line.cancel(&id, stamp).await });
    }

    async fn cancel(&self, id: &GoalId, stamp: Stamp) {
        let request = messages::cancel(id, stamp);
        let answered = match self.cancels.ask([&request[..]].into_iter()) {
            Ok(mut asked) => {
                let reply = tokio::time::timeout(PATIENCE, self.cancels.reply(&mut asked)).await;
                reply.unwrap_or_else(|_| Err(format!("the server there has not answered in {} s", PATIENCE.as_secs())))
            }
            Err(why) => Err(why.to_owned()),
        };
        if let Err(why) = answered {
            log::warn!("whether goals of '{}' are cancelled is not known: {why}", self.action);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_not_too_early_and_not_too_late() {
        let [one, other, late] = [[1; 16], [2; 16], [3; 16]];
        let mut book = Book::default();
        assert!(book.wish(late), "it may be known there");
        book.send(one, 10);
        assert!(!book.wish(one), "nobody there knows it yet");
        assert!(book.accept(&one) && book.wish(one));
        book.send(other, 20);
        assert!(!book.accept(&other));
        book.send(late, 30);
        assert!(book.accept(&late), "the wish was there before it");
        book.wish_all(25);
        book.send(one, 25);
        book.send(other, 26);
        assert!(book.accept(&one) && !book.accept(&other));
    }
}
