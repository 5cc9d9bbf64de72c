//! `sinew foxglove`: the domain as a server of Foxglove's protocol tells it.
//!
//! The server's tasks publish what clients send, and else only note what they want. One thread follows the domain and does what they want, since that may have to wait for the manager; another, of the node, copies messages into the queues of clients.

mod channel;
mod channels;
mod flow;
mod graph;
mod journal;
mod offer;
mod publish;
mod rates;
mod server;
mod services;
mod wishes;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use foxglove::Context;

use crate::aside;
use crate::catalogues::Catalogues;
use crate::cli::Cli;
use crate::commands::foxglove::Foxglove;
use crate::domain::{Followed, View, join};
use crate::failure::{Done, Failure};
use crate::interrupt::on_interrupt;
use crate::missing;
use crate::patterns::Topics;
use crate::units::{bytes, three_digits};
use channels::Channels;
use graph::Graph;
use publish::{Listener, Outlets};
use rates::Rates;
pub use rates::is_rate;
use server::Server;
use services::Services;
use wishes::Wishes;

/// Between two lots of news for clients at least.
const PACE: Duration = Duration::from_millis(20);
/// Between two looks at the domain at most.
const NOW_AND_THEN: Duration = Duration::from_millis(100);

/// Serves the domain until it is interrupted.
pub fn serve(cli: &Cli, asked: &Foxglove) -> Done {
    // Nobody is there who could be told that nobody reads it.
    aside::begin(drop);
    let topics = asked.patterns.topics().map_err(Failure::of)?;
    let node = join(cli, "foxglove")?;
    let followed = Followed::new(&node)?;
    let view = Arc::new(Mutex::new(Arc::new(View::of(&node)?)));
    missing::tell_all(&node, &view.lock().expect("nobody panics with it"), asked.patterns.names());
    let mut catalogues = Catalogues::new(&node);
    let wishes = Wishes::new(Rates::new(asked.max_rate));
    let ended = Arc::clone(&wishes);
    on_interrupt(move || ended.end())?;
    journal::start(cli.json);

    let mut address = SocketAddr::new(asked.address, asked.port);
    loop {
        // Before somebody can ask: of a channel that comes later, the server tells clients a moment before it knows it itself, and refuses who subscribes at once.
        let context = Context::new();
        let mut channels = Channels::new(&node, &context, &wishes, topics.clone());
        while !channels.follow(&view.lock().expect("nobody panics with it"), catalogues.beyond()) {}
        let outlets = asked.allow_publish.then(|| Arc::new(Outlets::new(&node, &view)));
        let server = Server::start(&context, asked, address, &wishes, Listener::new(&wishes, outlets.clone()))?;
        address = server.address();
        let mut gateway = Gateway {
            channels,
            catalogues: &mut catalogues,
            outlets,
            services: asked.services.then(|| Services::new(&node, topics.clone())),
            graph: Graph::default(),
            topics: &topics,
            wishes: &wishes,
            view: &view,
            server: &server,
        };
        let why = gateway.run(&followed);
        drop(gateway);
        server.end();
        match why {
            Ended::Interrupted => break,
            Ended::Deaf => log::warn!("no more clients could come, as there were too many connections: all were ended"),
        }
    }
    journal::end();
    Ok(())
}

/// Why the gateway ended.
enum Ended {
    Interrupted,
    /// The server takes no more clients.
    Deaf,
}

struct Gateway<'a> {
    topics: &'a Topics,
    wishes: &'a Wishes,
    view: &'a Mutex<Arc<View>>,
    server: &'a Server,
    channels: Channels,
    catalogues: &'a mut Catalogues,
    outlets: Option<Arc<Outlets>>,
    services: Option<Services>,
    graph: Graph,
}

impl Gateway<'_> {
    fn run(&mut self, followed: &Followed) -> Ended {
        let mut view = Arc::clone(&self.view.lock().expect("nobody panics with it"));
        let (mut is_done, mut is_new) = (true, true);
        let mut standing = Standing::new();
        loop {
            if let Some(changed) = followed.changed() {
                view = Arc::new(changed);
                *self.view.lock().expect("nobody panics with it") = Arc::clone(&view);
                (is_done, is_new) = (false, true);
            }
            if std::mem::take(&mut is_new) {
                self.tell(&view);
            }
            is_done &= !self.catalogues.follow(&view, self.server.handle().client_count());
            if !is_done {
                is_done = self.channels.follow(&view, self.catalogues.beyond());
            }
            self.channels.subscribe();
            let set = self.wishes.with_rates(Rates::take_untold);
            if !set.is_empty() {
                self.server.handle().publish_parameter_values(set);
            }
            if standing.is_due() {
                standing.show(&self.channels, self.server.handle().client_count());
                if self.server.is_deaf() {
                    return Ended::Deaf;
                }
            }
            std::thread::sleep(PACE);
            if !self.wishes.wait(if is_done { NOW_AND_THEN } else { Duration::ZERO }) {
                return Ended::Interrupted;
            }
        }
    }

    /// What goes by itself with the domain.
    fn tell(&mut self, view: &View) {
        if let Some(outlets) = &self.outlets {
            outlets.follow();
        }
        if let Some(services) = &mut self.services {
            services.follow(view, self.server.handle());
        }
        let graph = Graph::of(view, self.topics);
        if graph == self.graph {
            return;
        }
        match self.server.handle().publish_connection_graph(graph.told()) {
            Ok(()) => self.graph = graph,
            Err(why) => log::warn!("clients cannot be told who is connected: {why}"),
        }
    }
}

/// How things stand, once a second.
struct Standing {
    at: Instant,
    messages: u64,
    bytes: u64,
}

impl Standing {
    fn new() -> Standing {
        Standing { at: Instant::now(), messages: 0, bytes: 0 }
    }

    fn is_due(&self) -> bool {
        self.at.elapsed() >= Duration::from_secs(1)
    }

    fn show(&mut self, channels: &Channels, clients: usize) {
        let seconds = self.at.elapsed().as_secs_f64();
        let (messages, sent) = channels.flow().totals();
        let (hz, rate) = ((messages - self.messages) as f64 / seconds, (sent - self.bytes) as f64 / seconds);
        let (all, watched) = channels.count();
        journal::show(&format!(
            "clients: {clients}, topics watched: {watched} of {all}, {} Hz, {}/s, lost: {}",
            three_digits(hz),
            bytes(rate),
            channels.lost()
        ));
        *self = Standing { at: Instant::now(), messages, bytes: sent };
    }
}
