//! `sinew top`: all topics and what flows in them, on a terminal.

mod app;
mod draw;

use std::io::IsTerminal;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ratatui::crossterm::event;
use sinew::{DomainCounters, DomainState, DomainUpdate, Node};

use crate::cli::{Cli, Order};
use crate::domain::{View, join};
use crate::failure::{Done, Failure};
use crate::flow::Moment;
use app::{App, Next};

/// What there is, kept up to date by a watch; a new View is made when something has changed.
struct Followed {
    shared: Arc<Mutex<Shared>>,
    _watch: sinew::DomainWatch,
    own: String,
}

#[derive(Default)]
struct Shared {
    state: DomainState,
    has_changed: bool,
}

impl Followed {
    fn new(node: &Node) -> Done<Followed> {
        let shared = Arc::new(Mutex::new(Shared::default()));
        let filled = Arc::clone(&shared);
        let watch = node.watch_domain(move |update: DomainUpdate| {
            let mut shared = filled.lock().expect("nobody panics with it");
            shared.has_changed |= update.complete;
            shared.state.apply(update);
        })?;
        Ok(Followed { shared, _watch: watch, own: node.name() })
    }

    /// None: it is as before.
    fn changed(&self) -> Option<View> {
        let mut shared = self.shared.lock().expect("nobody panics with it");
        std::mem::take(&mut shared.has_changed).then(|| View::new(shared.state.clone(), &self.own))
    }
}

/// Shows it until it is ended.
pub fn run(cli: &Cli, interval: Duration, filter: &str, sort: Order) -> Done {
    if cli.json || !std::io::stdout().is_terminal() {
        return Err(Failure::Failed("top is for a terminal; `sinew topic hz --json` tells the same to programs".to_owned()));
    }
    let node = join(cli, "top")?;
    let (followed, counters) = (Followed::new(&node)?, node.domain_counters()?);
    let mut app = App::new(View::of(&node)?, filter, sort);
    let mut terminal = ratatui::try_init()?;
    let ended = show(&mut terminal, &mut app, &followed, &counters, interval);
    ratatui::restore();
    ended
}

fn show(
    terminal: &mut ratatui::DefaultTerminal,
    app: &mut App,
    followed: &Followed,
    counters: &DomainCounters,
    interval: Duration,
) -> Done {
    let mut before = Moment::of(counters)?;
    // The first numbers come soon, those after them as often as asked.
    let mut next = before.at + interval.min(Duration::from_millis(200));
    loop {
        terminal.draw(|frame| draw::draw(frame, app))?;
        if event::poll(next.saturating_duration_since(Instant::now()))? && app.on_event(&event::read()?) == Next::End {
            return Ok(());
        }
        if Instant::now() < next {
            continue;
        }
        if let Some(view) = followed.changed() {
            app.view = view;
        }
        let now = Moment::of(counters)?;
        app.update(&before, &now);
        next = now.at + interval;
        before = now;
    }
}
