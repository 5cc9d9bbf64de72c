//! Goals that come from the domain, and are executed by nodes of ROS 2.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sinew::raw::{self, Frame, Provider, Subscriber, SubscriberOptions};
use sinew::{ErrorKind, Ghost, Qos};
use tokio::runtime::Handle;

use super::carrier::{Carrier, Requester};
use super::clock::{Clock, Stamp};
use super::executed::{CANCEL, WISHES, kept};
use super::feedbacks::Feedbacks;
use super::messages::{self, GoalId, state};
use super::part::{Part, part_of, services_of};
use super::types::ActionTypes;
use crate::bridge::{Channel, Due, Key, Look};
use crate::channels::{Counts, State};
use crate::ros2::calls::{self, Ending, cancelled};

/// Within which a server answers a wish to cancel.
const PATIENCE: Duration = Duration::from_secs(5);
/// Why a goal fails.
const ENDED: &str = "the bridge carries no goals there any more";
/// Within which feedback that has come is told, so that the result may follow it.
const CAUGHT_UP: Duration = Duration::from_millis(500);

/// Accepts goals as a ghost server of the domain while a server there does: until then they wait, as they do for any.
pub struct Sent<C: Carrier> {
    // In the order in which they go.
    provider: Option<Provider>,
    wishes: Option<Subscriber>,
    line: Option<Arc<Line<C>>>,
    /// That the line is to.
    servers: Option<[C::Server; 3]>,
    refused: Option<String>,
    counts: Arc<Counts>,
    types: Arc<ActionTypes>,
    action: String,
    look: Look,
    carrier: C,
    key: Key,
    due: Due,
}

/// To the server there.
struct Line<C: Carrier> {
    action: String,
    carrier: C,
    goals: C::Requester,
    results: C::Requester,
    cancels: C::Requester,
    types: Arc<ActionTypes>,
    feedbacks: Arc<Feedbacks>,
    counts: Arc<Counts>,
    book: Mutex<Book>,
    /// All goals are to give up.
    ending: Ending,
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

impl<C: Carrier> Sent<C> {
    /// `look` is called when [`Sent::look`] is to be.
    pub fn open(carrier: &C, key: &Key, due: &Due, look: Look) -> Result<Sent<C>, String> {
        let (action, _) = Part::of(&key.1, &due.signature).ok_or("it is of no action")?;
        let types = Arc::new(ActionTypes::of(carrier.types(), &due.signature, &due.response)?);
        let mut sent = Sent {
            provider: None,
            wishes: None,
            line: None,
            servers: None,
            refused: None,
            counts: Arc::default(),
            types,
            action: action.to_owned(),
            look,
            carrier: carrier.clone(),
            key: key.clone(),
            due: due.clone(),
        };
        sent.look();
        Ok(sent)
    }

    /// Servers of the three services. None: there are none that fit; and, where there are some, why they do not.
    fn found(&self) -> (Option<[C::Server; 3]>, Option<String>) {
        let named = services_of(&self.action);
        let [goal, result, cancel] = self.types.services(&named);
        let goal = self.carrier.server(goal, self.servers.as_ref().map(|[goal, ..]| goal));
        // Who executes a goal tells its result, and cancels it.
        let [result, cancel] = [result, cancel].map(|service| self.carrier.server(service, goal.0.as_ref()));
        let servers =
            if let (Some(goal), Some(result), Some(cancel)) = (goal.0, result.0, cancel.0) { Some([goal, result, cancel]) } else { None };
        let why = [goal.1, result.1, cancel.1].into_iter().flatten().next().filter(|_| servers.is_none());
        (servers, why)
    }

    fn lined(&self, servers: &[C::Server; 3]) -> Result<Line<C>, String> {
        let named = services_of(&self.action);
        let services = self.types.services(&named);
        let open = |at: usize| self.carrier.requester(&self.key, &self.due, services[at], &servers[at], Arc::clone(&self.look));
        Ok(Line {
            action: self.action.clone(),
            carrier: self.carrier.clone(),
            goals: open(0)?,
            results: open(1)?,
            cancels: open(2)?,
            types: Arc::clone(&self.types),
            feedbacks: self.carrier.feedbacks().of(&self.action),
            counts: Arc::clone(&self.counts),
            book: Mutex::default(),
            ending: Ending::default(),
        })
    }

    /// To wishes from now on: what was wished before is about goals that have ended, or were never sent there. None: nobody here wishes anything yet; [`look`](Sent::look) is called when somebody does.
    fn listen(&self, line: &Arc<Line<C>>) -> Option<Subscriber> {
        let (qos, options) =
            (Qos { transient_local: false, ..kept(WISHES) }, SubscriberOptions { ghost: Ghost::Carrier, ..SubscriberOptions::default() });
        let (wished, runtime) = (Arc::clone(line), self.carrier.runtime().clone());
        let wish = move |frame: Frame| Line::wish(&wished, &frame, &runtime);
        let wishes = Subscriber::with_callback(self.carrier.node(), &part_of(&self.action, "cancel"), CANCEL, &qos, options, wish);
        if let Some(why) = wishes.as_ref().err().filter(|why| why.kind() != ErrorKind::Unavailable) {
            log::warn!("wishes to cancel goals of '{}' are not heard: {why}", self.action);
        }
        wishes.ok()
    }

    fn provide(&self, line: &Arc<Line<C>>) -> sinew::Result<Provider> {
        let (line, runtime) = (Arc::clone(line), self.carrier.runtime().clone());
        calls::provided(self.carrier.node(), &self.key, &self.due, move |call| {
            let carried = Arc::clone(&line);
            // Here, so that none is on its way that is not known when this has gone.
            if let Some((id, call)) = carried.begin(call) {
                runtime.spawn(async move { carried.carry(id, call).await });
            }
        })
    }

    /// Nothing goes there any more. Blocks until the server there is asked to cancel what it executes, for a moment at most.
    fn end_line(&mut self) {
        // First, so that goals end as those of any server that has gone.
        self.provider = None;
        self.wishes = None;
        if let Some(line) = self.line.take() {
            line.end();
        }
    }
}

impl<C: Carrier> Channel for Sent<C> {
    fn look(&mut self) {
        let (servers, why) = self.found();
        if self.line.is_some() && self.servers != servers {
            self.end_line();
            self.carrier.closed(&self.key);
        }
        self.refused = why;
        self.servers = servers;
        let Some(servers) = &self.servers else { return };
        if self.line.is_none() {
            match self.lined(servers) {
                Ok(line) => self.line = Some(Arc::new(line)),
                Err(why) => {
                    self.carrier.closed(&self.key);
                    self.refused = Some(format!("'{}' cannot be opened: {why}", self.action));
                }
            }
        }
        let is_ready = self.line.as_ref().is_some_and(|line| line.all().iter().all(|requester| requester.is_ready()));
        if !is_ready {
            // First, so that goals end as those of any server that has gone, and later ones wait.
            self.provider = None;
        }
        let Some(line) = &self.line else { return };
        line.all().iter().for_each(|requester| requester.forget_lost());
        if !is_ready {
            return;
        }
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

    /// Where wishes are not, they are listened to anew.
    fn is_on_its_topic(&self) -> Option<bool> {
        Some(self.provider.as_ref().is_none_or(|provider| !provider.statistics().detached))
    }

    fn give_up(&mut self) {
        self.end_line();
    }

    fn told(&self) -> Option<(State, (u64, u64, u64))> {
        Some((calls::state(self.provider.is_some(), self.refused.as_ref()), self.counts.told()))
    }
}

impl<C: Carrier> Drop for Sent<C> {
    fn drop(&mut self) {
        self.end_line();
        self.carrier.closed(&self.key);
    }
}

impl<C: Carrier> Line<C> {
    fn all(&self) -> [&C::Requester; 3] {
        [&self.goals, &self.results, &self.cancels]
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All goals are to give up. Blocks until servers have heard of that, for a moment at most.
    fn end(&self) {
        self.ending.begin(|| self.book().sent.is_empty());
        self.all().iter().for_each(|requester| requester.give_up());
    }

    /// None: it is no goal.
    fn begin(&self, call: raw::Call) -> Option<(GoalId, raw::Call)> {
        let sent = call.reader().and_then(messages::begin_of).ok();
        let Some((id, sent_at)) = sent.filter(|(id, _)| *id != GoalId::default()) else {
            self.fail(call, "the goal has no id");
            return None;
        };
        self.book().send(id, sent_at);
        Some((id, call))
    }

    /// Carries a goal to the server, and its result back.
    async fn carry(&self, id: GoalId, call: raw::Call) {
        let outcome = {
            let execution = self.execute(&id, &call);
            tokio::pin!(execution);
            tokio::select! {
                outcome = &mut execution => Some(outcome),
                () = self.given_up(&call) => {
                    // Nobody hears what becomes of it, so it is to give up (A15): as soon as it is accepted, since before that no server there would know it.
                    let is_accepted = self.book().wish(id);
                    if is_accepted {
                        self.abandon(&id).await;
                    } else {
                        let _ = tokio::time::timeout(PATIENCE, execution).await;
                    }
                    None
                }
            }
        };
        let sent = self.book().sent.remove(&id);
        match outcome {
            None if call.is_cancelled() => {}
            None => self.fail(call, ENDED),
            Some(Err(why)) => {
                self.fail(call, &why);
                // It may be executed all the same, and nobody would hear what becomes of it.
                if sent.is_some_and(|goal| goal.is_accepted) {
                    self.abandon(&id).await;
                }
            }
            Some(Ok(response)) => {
                self.counts.answered(response.len() + call.extents().map(<[u8]>::len).sum::<usize>());
                if let Err(error) = call.answer(&[&response]) {
                    log::debug!("a result of '{}' could not be delivered: {error}", self.action);
                }
            }
        }
    }

    /// Until nobody waits for what becomes of it, or nobody carries that back.
    async fn given_up(&self, call: &raw::Call) {
        tokio::select! {
            () = cancelled(call) => {}
            () = self.ending.begun() => {}
        }
    }

    async fn execute(&self, id: &GoalId, call: &raw::Call) -> Result<Vec<u8>, String> {
        if self.ending.has_begun() {
            return Err(ENDED.to_owned());
        }
        let response = self.goals.ask(messages::goal_out(call.extents(), &self.types.goal)).await?;
        if !messages::is_accepted(&response) {
            let text = "the server there does not accept the goal";
            return messages::without_result(&self.types.response, state::REJECTED, text).ok_or_else(|| text.to_owned());
        }
        let is_to_be_cancelled = self.book().accept(id);
        if is_to_be_cancelled {
            self.cancel(id, Stamp::default()).await;
        }
        let response = self.results.ask(vec![&messages::result_of(id)]).await?;
        // Its client gets what comes before the result, and waits no longer for it (A11).
        let _ = tokio::time::timeout(CAUGHT_UP, self.carrier.caught_up(&self.action)).await;
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
    fn wish(line: &Arc<Line<C>>, frame: &Frame, runtime: &Handle) {
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

    /// Has it give up, where a server is left that may execute it.
    async fn abandon(&self, id: &GoalId) {
        if self.cancels.is_ready() {
            self.cancel(id, Stamp::default()).await;
        }
    }

    async fn cancel(&self, id: &GoalId, stamp: Stamp) {
        let request = messages::cancel(id, stamp);
        let reply = tokio::time::timeout(PATIENCE, self.cancels.ask(vec![&request])).await;
        let answered = reply.unwrap_or_else(|_| Err(format!("the server there has not answered in {} s", PATIENCE.as_secs())));
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
