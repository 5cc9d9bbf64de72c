//! `sinew top`: all topics and what flows in them, on a terminal, or for programs.

mod app;
mod draw;
mod links;
mod told;

use std::io::IsTerminal;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ratatui::crossterm::event;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};
use sinew::{DomainCounters, Node};

use crate::cli::{Cli, Order};
use crate::domain::{Followed, View, in_domain, join};
use crate::failure::{Done, Failure};
use crate::flow::Moment;
use crate::gateways::Gateways;
use crate::output::json_line;
use app::{App, Next};
use told::Told;

/// How often it is looked for a signal.
const OFTEN: Duration = Duration::from_millis(100);

/// Shows it until it is ended.
pub fn run(cli: &Cli, interval: Duration, filter: &str, sort: Order) -> Done {
    if !cli.json && !std::io::stdout().is_terminal() {
        let same = in_domain(cli.domain.as_deref());
        return Err(Failure::Failed(format!("top is for a terminal; `sinew top --json{same}` tells the same to programs")));
    }
    let node = join(cli, "top")?;
    let mut app = App::new(View::of(&node)?, filter, sort);
    let mut domain = Domain::new(&node, &app)?;
    if cli.json {
        return tell(&mut app, &mut domain, interval);
    }
    let ended_by = Arc::new(AtomicUsize::new(0));
    for signal in [SIGINT, SIGTERM] {
        let registered = flag::register_usize(signal, Arc::clone(&ended_by), signal as usize);
        registered.map_err(|why| Failure::Failed(format!("signals cannot be watched: {why}")))?;
    }
    let mut terminal = ratatui::try_init()?;
    let ended = show(&mut terminal, &mut app, &mut domain, interval, &ended_by);
    drop(terminal); // which shows the cursor again
    ratatui::restore();
    match ended_by.load(Ordering::Relaxed) {
        0 => ended,
        // As it would have ended where it has no terminal to leave as it was.
        signal => Ok(low_level::emulate_default_handler(signal as i32)?),
    }
}

/// Where what is shown comes from.
struct Domain<'a> {
    node: &'a Node,
    followed: Followed,
    counters: DomainCounters,
    gateways: Gateways,
    before: Rc<Moment>,
}

impl<'a> Domain<'a> {
    fn new(node: &'a Node, app: &App) -> Done<Domain<'a>> {
        let (followed, counters) = (Followed::new(node)?, node.domain_counters()?);
        let mut gateways = Gateways::default();
        gateways.follow(node, &app.view)?;
        let before = Rc::new(Moment::of(&counters, None)?);
        Ok(Domain { node, followed, counters, gateways, before })
    }

    /// Ends an interval, and begins the next.
    fn count(&mut self, app: &mut App) -> Done {
        // What is shown while it is paused goes with the ids of then.
        if !app.paused
            && let Some(view) = self.followed.changed()
        {
            app.view = view;
            self.gateways.follow(self.node, &app.view)?;
        }
        self.gateways.take(&app.view, Duration::ZERO)?;
        if !app.paused {
            app.gateways = self.gateways.told.values().map(|told| told.status.clone()).collect();
        }
        let now = Rc::new(Moment::of(&self.counters, Some(&self.before))?);
        app.update(&self.before, &now);
        self.before = now;
        Ok(())
    }
}

/// Until a key ends it, or a signal, whose number is noted then.
fn show(
    terminal: &mut ratatui::DefaultTerminal,
    app: &mut App,
    domain: &mut Domain<'_>,
    interval: Duration,
    ended_by: &AtomicUsize,
) -> Done {
    // The first numbers come soon, those after them as often as asked.
    let mut next = domain.before.at + interval.min(Duration::from_millis(200));
    loop {
        terminal.draw(|frame| draw::draw(frame, app))?;
        // A signal does not end the waiting.
        while !event::poll(OFTEN.min(next.saturating_duration_since(Instant::now())))? && Instant::now() < next {
            // relaxed: nothing else is told by it.
            if ended_by.load(Ordering::Relaxed) != 0 {
                return Ok(());
            }
        }
        if event::poll(Duration::ZERO)? && app.on_event(&event::read()?) == Next::End || ended_by.load(Ordering::Relaxed) != 0 {
            return Ok(());
        }
        if Instant::now() < next {
            continue;
        }
        domain.count(app)?;
        next = domain.before.at + interval;
    }
}

/// The same for programs, a line for each interval.
fn tell(app: &mut App, domain: &mut Domain<'_>, interval: Duration) -> Done {
    loop {
        std::thread::sleep((domain.before.at + interval).saturating_duration_since(Instant::now()));
        domain.count(app)?;
        json_line(&Told::of(app))?;
    }
}
