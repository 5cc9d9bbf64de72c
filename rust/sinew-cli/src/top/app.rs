//! What is shown, and how keys change that.

use std::cmp::Ordering;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::widgets::TableState;
use sinew::{GatewayStatus, Id};

use crate::cli::Order;
use crate::domain::{View, is_part};
use crate::flow::{Moment, PairFlow, TopicFlow};

/// Rates of so many intervals are kept, for the sparkline.
pub const HISTORY: usize = 20;

/// What comes after an event.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// It goes on.
    Show,
    /// It ends.
    End,
}

/// A topic.
#[derive(Clone)]
pub struct Row {
    /// Its id.
    pub id: Id,
    /// Its name.
    pub name: String,
    /// That of its type.
    pub type_name: String,
    /// In the last interval.
    pub flow: TopicFlow,
}

/// A publisher and a subscriber of the topic that is looked at.
pub struct PairRow {
    /// Its node.
    pub publisher: String,
    /// Its node.
    pub subscriber: String,
    /// How messages come; none: not connected.
    pub delivery: Option<String>,
    /// Why that way.
    pub why: String,
    /// In the last interval.
    pub flow: PairFlow,
}

/// What is shown.
pub struct App {
    /// What there is.
    pub view: View,
    /// Those that are shown, in their order.
    pub rows: Vec<Row>,
    /// Of the topic that is looked at.
    pub pairs: Vec<PairRow>,
    /// By what rows are ordered.
    pub sort: Order,
    /// The other way round.
    pub reversed: bool,
    /// What names contain.
    pub filter: String,
    /// The filter is being typed.
    pub typing: bool,
    /// Numbers stay as they are.
    pub paused: bool,
    /// As they stand.
    pub gateways: Vec<GatewayStatus>,
    /// What goes over gateways is shown in place of the topics.
    pub channels: bool,
    /// The selected topic is looked at.
    pub details: bool,
    /// Where the table stands.
    pub table: TableState,
    /// Messages a second in the intervals before, and in this, which is the last (none: it was not there), of each topic that was there in one of them: by its name, as the next manager gives its id to another.
    pub histories: HashMap<String, VecDeque<Option<f64>>>,
    /// Also those that the filter leaves out.
    all: Vec<Row>,
    /// Between which two moments they are.
    interval: Option<(Rc<Moment>, Rc<Moment>)>,
    /// Likewise by its name.
    selected: Option<String>,
}

impl App {
    /// Before anything has flowed.
    pub fn new(view: View, filter: &str, sort: Order) -> App {
        App {
            view,
            rows: Vec::new(),
            pairs: Vec::new(),
            sort,
            reversed: false,
            filter: filter.to_owned(),
            typing: false,
            paused: false,
            gateways: Vec::new(),
            channels: false,
            details: false,
            table: TableState::default(),
            histories: HashMap::new(),
            all: Vec::new(),
            interval: None,
            selected: None,
        }
    }

    /// Counts another interval.
    pub fn update(&mut self, before: &Rc<Moment>, now: &Rc<Moment>) {
        if self.paused {
            return;
        }
        let mut rows = Vec::new();
        for topic in self.view.state.topics.values().filter(|topic| !is_part(&topic.name)) {
            let flow = now.topic(&self.view, topic.id, before);
            self.histories.entry(topic.name.clone()).or_default();
            rows.push(Row { id: topic.id, name: topic.name.clone(), type_name: topic.type_name.clone(), flow });
        }
        let rates: HashMap<&str, f64> = rows.iter().map(|row| (row.name.as_str(), row.flow.hz)).collect();
        self.histories.retain(|name, history| {
            history.push_back(rates.get(name.as_str()).copied());
            if history.len() > HISTORY {
                history.pop_front();
            }
            history.iter().any(Option::is_some)
        });
        self.interval = Some((Rc::clone(before), Rc::clone(now)));
        self.show(rows);
    }

    /// Shows these topics from now on.
    pub fn show(&mut self, all: Vec<Row>) {
        self.all = all;
        self.arrange();
    }

    fn pair_row(&self, pair: &sinew::DomainPair, before: &Moment, now: &Moment) -> PairRow {
        PairRow {
            publisher: self.view.owner_of(pair.publisher).to_owned(),
            subscriber: self.view.owner_of(pair.subscriber).to_owned(),
            delivery: pair.delivery.map(|delivery| delivery.to_string()),
            why: pair.why.clone(),
            flow: now.pair((pair.publisher, pair.subscriber), before),
        }
    }

    /// Filters and orders, and looks at what is selected, which stays so.
    fn arrange(&mut self) {
        let filter = self.filter.to_lowercase();
        let is_wanted = |row: &&Row| row.name.to_lowercase().contains(&filter) || row.type_name.to_lowercase().contains(&filter);
        self.rows = self.all.iter().filter(is_wanted).cloned().collect();
        let (sort, reversed) = (self.sort, self.reversed);
        self.rows.sort_by(|a, b| {
            let ordering = compare(a, b, sort).then_with(|| a.name.cmp(&b.name));
            if reversed { ordering.reverse() } else { ordering }
        });
        let place = self.rows.iter().position(|row| Some(&row.name) == self.selected.as_ref());
        let first = (!self.rows.is_empty()).then_some(0);
        // What was there a while ago may be there again soon, as nodes register with the next manager one after the other.
        if place.is_none() && self.selected.as_ref().is_some_and(|name| self.histories.contains_key(name)) {
            self.table.select(first);
        } else {
            self.select(place.or(first));
        }
        self.pairs = match (self.selected(), &self.interval) {
            (Some(topic), Some((before, now))) if self.details => {
                self.view.pairs(topic.id).map(|pair| self.pair_row(pair, before, now)).collect()
            }
            _ => Vec::new(),
        };
    }

    fn select(&mut self, place: Option<usize>) {
        self.table.select(place);
        self.selected = place.map(|place| self.rows[place].name.clone());
    }

    fn move_by(&mut self, step: isize) {
        let Some(last) = self.rows.len().checked_sub(1) else { return };
        let place = self.table.selected().unwrap_or(0).saturating_add_signed(step).min(last);
        self.select(Some(place));
    }

    /// The selected topic.
    pub fn selected(&self) -> Option<&Row> {
        self.table.selected().and_then(|place| self.rows.get(place))
    }

    /// A key, or nothing that matters.
    pub fn on_event(&mut self, event: &Event) -> Next {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                let next = self.on_key(*key);
                self.arrange();
                next
            }
            _ => Next::Show,
        }
    }

    fn on_key(&mut self, key: KeyEvent) -> Next {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            return Next::End;
        }
        if self.typing {
            match key.code {
                KeyCode::Enter => self.typing = false,
                KeyCode::Esc => {
                    self.typing = false;
                    self.filter.clear();
                }
                KeyCode::Backspace => drop(self.filter.pop()),
                KeyCode::Char(letter) => self.filter.push(letter),
                _ => {}
            }
            return Next::Show;
        }
        match key.code {
            KeyCode::Char('q') => return Next::End,
            KeyCode::Esc if self.details => self.details = false,
            KeyCode::Esc => return Next::End,
            KeyCode::Enter => self.details = !self.details,
            KeyCode::Down | KeyCode::Char('j') => self.move_by(1),
            KeyCode::Up | KeyCode::Char('k') => self.move_by(-1),
            KeyCode::PageDown => self.move_by(20),
            KeyCode::PageUp => self.move_by(-20),
            KeyCode::Home => self.move_by(isize::MIN),
            KeyCode::End => self.move_by(isize::MAX),
            KeyCode::Char('s') => self.sort = after(self.sort),
            KeyCode::Char('g') => self.channels = !self.channels,
            KeyCode::Char('r') => self.reversed = !self.reversed,
            KeyCode::Char('/') => self.typing = true,
            KeyCode::Char(' ') => self.paused = !self.paused,
            _ => {}
        }
        Next::Show
    }
}

fn compare(a: &Row, b: &Row, sort: Order) -> Ordering {
    let most_first = |of: fn(&TopicFlow) -> f64| of(&b.flow).total_cmp(&of(&a.flow));
    match sort {
        Order::Name => Ordering::Equal,
        Order::Rate => most_first(|flow| flow.hz),
        Order::Bandwidth => most_first(|flow| flow.bytes_per_second),
        Order::Latency => most_first(|flow| flow.latency.quantile_ns(0.99).unwrap_or(0) as f64),
        Order::Held => most_first(|flow| flow.held as f64),
        Order::Lost => most_first(|flow| flow.lost_ever as f64),
    }
}

fn after(sort: Order) -> Order {
    match sort {
        Order::Name => Order::Rate,
        Order::Rate => Order::Bandwidth,
        Order::Bandwidth => Order::Latency,
        Order::Latency => Order::Held,
        Order::Held => Order::Lost,
        Order::Lost => Order::Name,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use sinew::raw::Delivery;
    use sinew::{DomainCounts, DomainPair, DomainState, DomainTopic, PublisherCounts};

    use super::*;
    use crate::domain::end_on;

    /// Two topics of these ids, each with a publisher and a subscriber.
    fn view(left: Id, right: Id) -> View {
        let (mut state, delivery) = (DomainState::default(), Some(Delivery::View));
        for (id, name) in [(left, "left"), (right, "right")] {
            let (name, type_name, why) = (name.to_owned(), "robot/Image".to_owned(), format!("as it is {name}"));
            let (publisher, subscriber) = (10 + id, 20 + id);
            state.topics.insert(id, DomainTopic { id, name, type_name, signature: String::new(), hash: [0; 16] });
            state.endpoints.extend([(publisher, end_on(id, publisher, true)), (subscriber, end_on(id, subscriber, false))]);
            state.pairs.insert((publisher, subscriber), DomainPair { publisher, subscriber, delivery, why });
        }
        View::new(state, "")
    }

    fn published(topic: Id, identity: u64, messages: u64) -> PublisherCounts {
        let (bytes, bytes_copied, bytes_exported, refused, withdrawn, newest_ns) = (0, 0, 0, 0, 0, 0);
        PublisherCounts { publisher: 10 + topic, identity, messages, bytes, bytes_copied, bytes_exported, refused, withdrawn, newest_ns }
    }

    #[test]
    fn what_is_selected_and_what_was_counted_stays_with_the_names_of_topics_when_their_ids_change() {
        let start = Instant::now();
        let moment = |before: Option<&Moment>, seconds: u64, left, right| {
            let publishers = vec![published(left, 71, 10 * seconds), published(right, 72, 20 * seconds)];
            let counts = DomainCounts { publishers, pairs: Vec::new() };
            Rc::new(Moment::after(before, start + Duration::from_secs(seconds), counts))
        };
        let first = moment(None, 0, 1, 2);
        let second = moment(Some(&first), 1, 1, 2);
        let third = moment(Some(&second), 2, 2, 1);
        let mut app = App::new(view(1, 2), "", Order::Name);
        app.update(&first, &second);
        for key in [KeyCode::Down, KeyCode::Enter] {
            app.on_event(&Event::Key(key.into()));
        }
        app.view = View::default();
        app.update(&second, &second);
        assert!(app.selected().is_none(), "nodes have yet to register");
        app.view = view(2, 1);
        app.update(&second, &third);
        assert_eq!(app.selected().map(|row| row.name.as_str()), Some("right"));
        assert_eq!(app.pairs.iter().map(|pair| pair.why.as_str()).collect::<Vec<_>>(), ["as it is right"]);
        assert_eq!(app.histories["left"], [Some(10.0), None, Some(10.0)]);
        assert_eq!(app.histories["right"], [Some(20.0), None, Some(20.0)]);
        app.view = View::default();
        for _ in 0..HISTORY {
            app.update(&third, &third);
        }
        assert!(app.histories.is_empty(), "what is gone for long is forgotten");
    }
}
