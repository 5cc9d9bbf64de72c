//! `sinew top`: all topics and what flows in them, on a terminal.

mod app;
mod draw;
mod links;

use std::io::IsTerminal;
use std::rc::Rc;
use std::time::{Duration, Instant};

use ratatui::crossterm::event;
use sinew::{DomainCounters, Node};

use crate::cli::{Cli, Order};
use crate::domain::{Followed, View, join};
use crate::failure::{Done, Failure};
use crate::flow::Moment;
use crate::gateways::Gateways;
use app::{App, Next};

/// Shows it until it is ended.
pub fn run(cli: &Cli, interval: Duration, filter: &str, sort: Order) -> Done {
    if cli.json || !std::io::stdout().is_terminal() {
        return Err(Failure::Failed("top is for a terminal; `sinew topic hz --json` tells the same to programs".to_owned()));
    }
    let node = join(cli, "top")?;
    let (followed, counters) = (Followed::new(&node)?, node.domain_counters()?);
    let mut app = App::new(View::of(&node)?, filter, sort);
    let mut terminal = ratatui::try_init()?;
    let ended = show(&mut terminal, &mut app, &node, &followed, &counters, interval);
    ratatui::restore();
    ended
}

fn show(
    terminal: &mut ratatui::DefaultTerminal,
    app: &mut App,
    node: &Node,
    followed: &Followed,
    counters: &DomainCounters,
    interval: Duration,
) -> Done {
    let mut gateways = Gateways::default();
    gateways.follow(node, &app.view)?;
    let mut before = Rc::new(Moment::of(counters)?);
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
            gateways.follow(node, &app.view)?;
        }
        gateways.take(&app.view, Duration::ZERO)?;
        if !app.paused {
            app.gateways = gateways.told.values().map(|told| told.status.clone()).collect();
        }
        let now = Rc::new(Moment::of(counters)?);
        app.update(&before, &now);
        next = now.at + interval;
        before = now;
    }
}
