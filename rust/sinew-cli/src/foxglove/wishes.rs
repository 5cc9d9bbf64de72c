//! What clients want: the server's tasks say it, and the gateway's thread, which may wait for the manager, does it.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use foxglove::ChannelId;
use foxglove::websocket::{AnyClient, GetParametersResponder, Parameter, ParameterHandler, SetParametersResponder};

use super::rates::Rates;

/// What clients want.
pub struct Wishes {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    has_changed: bool,
    is_over: bool,
    rates: Rates,
    /// How often clients have subscribed to a channel.
    subscribed: HashMap<ChannelId, u64>,
}

impl Wishes {
    /// Nothing yet.
    pub fn new(rates: Rates) -> Arc<Wishes> {
        let state = State { has_changed: false, is_over: false, rates, subscribed: HashMap::new() };
        Arc::new(Wishes { state: Mutex::new(state), changed: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics with it")
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        state.has_changed = true;
        self.changed.notify_one();
    }

    /// A client has subscribed to a channel.
    pub fn subscribe(&self, channel: ChannelId) {
        self.change(|state| *state.subscribed.entry(channel).or_default() += 1);
    }

    /// A client has unsubscribed.
    pub fn unsubscribe(&self) {
        self.change(|_| {});
    }

    /// The gateway is to end.
    pub fn end(&self) {
        self.change(|state| state.is_over = true);
    }

    /// Waits until something changes, at most so long. False: the gateway is to end.
    pub fn wait(&self, most: Duration) -> bool {
        let state = self.lock();
        let waited = self.changed.wait_timeout_while(state, most, |state| !state.has_changed);
        let (mut state, _) = waited.expect("nobody panics with it");
        state.has_changed = false;
        !state.is_over
    }

    /// How often clients have subscribed to a channel.
    pub fn subscriptions(&self, channel: ChannelId) -> u64 {
        self.lock().subscribed.get(&channel).copied().unwrap_or(0)
    }

    /// Forgets channels that are gone.
    pub fn retain(&self, is_there: impl Fn(ChannelId) -> bool) {
        self.lock().subscribed.retain(|channel, _| is_there(*channel));
    }

    /// Does something with the rates.
    pub fn with_rates<T>(&self, then: impl FnOnce(&mut Rates) -> T) -> T {
        then(&mut self.lock().rates)
    }
}

/// On a task of the server, which is not to wait.
impl ParameterHandler for Wishes {
    fn get(&self, _client: AnyClient, names: Vec<String>, _request: Option<String>, responder: GetParametersResponder) {
        responder.respond(self.with_rates(|rates| rates.parameters(&names)));
    }

    fn set(&self, client: AnyClient, asked: Vec<Parameter>, _request: Option<String>, responder: SetParametersResponder) {
        let (mut complaint, mut names) = (None, Vec::new());
        self.change(|state| {
            for parameter in asked {
                complaint = complaint.or(state.rates.set(&parameter).err());
                names.push(parameter.name);
            }
        });
        if let Some(complaint) = complaint {
            client.send_error(complaint);
        }
        let applied = if names.is_empty() { Vec::new() } else { self.with_rates(|rates| rates.parameters(&names)) };
        responder.respond(applied);
    }
}
