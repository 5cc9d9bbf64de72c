//! How it looks.

use std::collections::VecDeque;

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Cell, Paragraph, Row, Table, Wrap};

use super::app::{App, HISTORY, PairRow};
use super::links::{draw_channels, lines_of_links};
use crate::cli::Order;
use crate::output::{counted, shown};
use crate::units::{bytes, nanoseconds, three_digits};

const TITLES: [(&str, Option<Order>); 9] = [
    ("topic", Some(Order::Name)),
    ("type", None),
    ("pub/sub", None),
    ("rate", Some(Order::Rate)),
    ("", None),
    ("bandwidth", Some(Order::Bandwidth)),
    ("p50 / p99", Some(Order::Latency)),
    ("held", Some(Order::Held)),
    ("lost", Some(Order::Lost)),
];

/// Draws everything.
pub fn draw(frame: &mut Frame<'_>, app: &mut App) {
    let details = if app.details { Constraint::Percentage(40) } else { Constraint::Length(0) };
    let links = lines_of_links(&app.gateways);
    let room = Constraint::Length(u16::try_from(links.len()).unwrap_or(0));
    let [head, body, pairs, below, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(3), details, room, Constraint::Length(1)]).areas(frame.area());
    frame.render_widget(head_of(app), head);
    if app.channels {
        draw_channels(frame, &app.gateways, body);
    } else {
        draw_topics(frame, app, body);
    }
    if app.details {
        draw_pairs(frame, app, pairs);
    }
    frame.render_widget(Paragraph::new(links), below);
    frame.render_widget(foot_of(app), foot);
}

pub fn bold(text: impl Into<String>) -> Span<'static> {
    Span::styled(text.into(), Modifier::BOLD)
}

fn head_of(app: &App) -> Line<'static> {
    let (hz, rate) = app.rows.iter().fold((0.0, 0.0), |(hz, rate), row| (hz + row.flow.hz, rate + row.flow.bytes_per_second));
    let mut said = vec![
        bold("sinew top"),
        Span::raw(format!("  {}, {}  ", counted(app.view.state.nodes.len() as u64, "node"), counted(app.rows.len() as u64, "topic"))),
        bold(format!("{} msg/s", three_digits(hz))),
        Span::raw("  "),
        bold(format!("{}/s", bytes(rate))),
    ];
    if app.paused {
        said.push(Span::styled("  paused", Color::Yellow));
    }
    Line::from(said)
}

fn foot_of(app: &App) -> Line<'static> {
    if app.typing {
        return Line::from(vec![bold("/"), Span::raw(shown(&app.filter)), Span::styled("_", Modifier::SLOW_BLINK)]);
    }
    let filter = if app.filter.is_empty() { String::new() } else { format!("  filter: {}", shown(&app.filter)) };
    Line::styled(format!("enter details  g gateways  s sort  r reverse  / filter  space pause  q quit{filter}"), Modifier::DIM)
}

pub fn right(text: impl Into<String>) -> Cell<'static> {
    Cell::from(Text::from(text.into()).alignment(Alignment::Right))
}

fn lost(now: u64, ever: u64) -> Cell<'static> {
    let style = if now > 0 { Style::from(Color::Red) } else { Style::new() };
    right(if ever == 0 { String::new() } else { ever.to_string() }).style(style)
}

fn latency_of(latency: &sinew::Latency) -> String {
    let told = |part| latency.quantile_ns(part).map(|time| nanoseconds(time as f64));
    told(0.5).zip(told(0.99)).map_or_else(|| "-".to_owned(), |(half, most)| format!("{half} / {most}"))
}

fn draw_topics(frame: &mut Frame<'_>, app: &mut App, area: Rect) {
    let titles = TITLES.map(|(title, order)| {
        let is_sorted = order == Some(app.sort);
        let mark = if !is_sorted {
            ""
        } else if app.reversed {
            " ^"
        } else {
            " v"
        };
        let text = Text::from(format!("{title}{mark}"));
        let is_left = title == "topic" || title == "type";
        Cell::from(if is_left { text } else { text.alignment(Alignment::Right) })
    });
    let rows = app.rows.iter().map(|row| {
        let flow = &row.flow;
        let is_silent = flow.hz == 0.0;
        Row::new([
            Cell::from(shown(&row.name)).style(Color::Cyan),
            Cell::from(shown(&row.type_name)),
            right(format!("{}/{}", flow.publishers, flow.subscribers)),
            right(if is_silent { "-".to_owned() } else { format!("{} Hz", three_digits(flow.hz)) }),
            Cell::from(sparkline(app.histories.get(&row.name))).style(Color::Green),
            right(if flow.mean_bytes.is_none() { "-".to_owned() } else { format!("{}/s", bytes(flow.bytes_per_second)) }),
            right(latency_of(&flow.latency)),
            right(if flow.held == 0 { String::new() } else { flow.held.to_string() }),
            lost(flow.lost, flow.lost_ever),
        ])
    });
    let widths = [
        Constraint::Fill(3),
        Constraint::Fill(2),
        Constraint::Length(7),
        Constraint::Length(10),
        Constraint::Length(HISTORY as u16),
        Constraint::Length(11),
        Constraint::Length(19),
        Constraint::Length(7),
        Constraint::Length(9),
    ];
    let table = Table::new(rows, widths)
        .header(Row::new(titles).style(Modifier::BOLD | Modifier::UNDERLINED))
        .row_highlight_style(Modifier::REVERSED);
    frame.render_stateful_widget(table, area, &mut app.table);
}

/// The largest of them is a whole block.
fn sparkline(history: Option<&VecDeque<Option<f64>>>) -> String {
    const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let history: Vec<f64> = history.into_iter().flatten().map(|hz| hz.unwrap_or_default()).collect();
    let most = history.iter().copied().fold(0.0, f64::max);
    let missing = std::iter::repeat_n(' ', HISTORY - history.len().min(HISTORY));
    missing.chain(history.iter().map(|hz| BLOCKS[if most > 0.0 { (hz / most * 8.0).ceil() as usize } else { 0 }])).collect()
}

fn draw_pairs(frame: &mut Frame<'_>, app: &App, area: Rect) {
    let Some(topic) = app.selected() else { return };
    let block = Block::bordered().title(format!(" {} ", shown(&topic.name)));
    let mut lines = Vec::new();
    for pair in &app.pairs {
        lines.extend(lines_of(pair));
    }
    if lines.is_empty() {
        let flow = &topic.flow;
        lines.push(Line::raw(format!(
            "{}, {}, and none of them connected",
            counted(flow.publishers as u64, "publisher"),
            counted(flow.subscribers as u64, "subscriber")
        )));
    }
    frame.render_widget(Paragraph::new(lines).block(block).wrap(Wrap { trim: false }), area);
}

fn lines_of(pair: &PairRow) -> Vec<Line<'static>> {
    let way = match pair.delivery.as_deref() {
        None => Span::styled("not connected", Color::Red),
        Some(way @ ("native" | "pointer")) => Span::styled(way.to_owned(), Color::Green),
        Some(way) => Span::styled(way.to_owned(), Color::Yellow),
    };
    let flow = &pair.flow;
    let counted = format!("  {} Hz, {}, holds {}, lost {}", three_digits(flow.hz), latency_of(&flow.latency), flow.held, flow.lost);
    let names = Span::styled(format!("{} -> {}: ", shown(&pair.publisher), shown(&pair.subscriber)), Color::Cyan);
    let mut lines = vec![Line::from(vec![names, way, Span::raw(counted)])];
    if !pair.why.is_empty() {
        lines.push(Line::styled(format!("  {}", shown(&pair.why)), Modifier::DIM));
    }
    lines
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::{Event, KeyCode};
    use sinew::Latency;

    use super::super::app::{Next, Row};
    use super::*;
    use crate::domain::View;
    use crate::flow::TopicFlow;

    fn row(id: u64, name: &str, hz: f64, lost: u64) -> Row {
        let mut latency = Latency::default();
        latency.buckets[4] = 10;
        let flow = TopicFlow {
            publishers: 1,
            subscribers: 2,
            hz,
            bytes_per_second: hz * 1e6,
            mean_bytes: Some(1e6),
            latency,
            held: 3,
            lost,
            lost_ever: lost,
        };
        Row { id, name: name.to_owned(), type_name: "robot/Image".to_owned(), flow }
    }

    fn app() -> App {
        let mut app = App::new(View::default(), "", Order::Name);
        app.show(vec![row(1, "camera/left", 30.0, 0), row(2, "camera/right", 60.0, 7)]);
        app.histories = app.rows.iter().map(|row| (row.name.clone(), [0.0, row.flow.hz / 2.0, row.flow.hz].map(Some).into())).collect();
        app
    }

    fn screen(app: &mut App) -> String {
        let mut terminal = Terminal::new(TestBackend::new(120, 12)).unwrap();
        terminal.draw(|frame| draw(frame, app)).unwrap();
        let buffer = terminal.backend().buffer();
        let cells = buffer.content.iter().map(|cell| cell.symbol()).collect::<Vec<_>>();
        cells.chunks(120).map(|line| line.concat().trim_end().to_owned() + "\n").collect()
    }

    fn press(app: &mut App, keys: &str) -> Next {
        let mut next = Next::Show;
        for key in keys.chars() {
            let code = match key {
                '\n' => KeyCode::Enter,
                '\u{1b}' => KeyCode::Esc,
                letter => KeyCode::Char(letter),
            };
            next = app.on_event(&Event::Key(code.into()));
        }
        next
    }

    #[test]
    fn topics_stand_with_what_flows_in_them() {
        let screen = screen(&mut app());
        assert!(screen.contains("2 topics  90.0 msg/s  90.0 MB/s"), "{screen}");
        let right = screen.lines().find(|line| line.starts_with("camera/right")).unwrap();
        for part in ["robot/Image", "1/2", "60.0 Hz", " ▄█", "60.0 MB/s", "3.07 us / 3.07 us", "3", "7"] {
            assert!(right.contains(part), "{part}: {screen}");
        }
    }

    #[test]
    fn keys_order_filter_and_end() {
        let mut app = app();
        let first = |app: &App| app.rows[0].name.clone();
        press(&mut app, "s");
        assert_eq!((app.sort, first(&app)), (Order::Rate, "camera/right".to_owned()));
        press(&mut app, "r");
        assert_eq!(first(&app), "camera/left");
        assert!(screen(&mut app).contains("rate ^"));
        press(&mut app, "/rightq");
        assert_eq!((app.filter.as_str(), app.typing, app.rows.len()), ("rightq", true, 0));
        app.on_event(&Event::Key(KeyCode::Backspace.into()));
        press(&mut app, "\n");
        assert_eq!((app.filter.as_str(), app.typing, first(&app).as_str()), ("right", false, "camera/right"));
        press(&mut app, " \n");
        assert!(app.paused && app.details);
        assert!(screen(&mut app).contains("none of them connected"));
        assert_eq!(press(&mut app, "\u{1b}"), Next::Show);
        assert_eq!(press(&mut app, "q"), Next::End);
    }

    #[test]
    fn a_small_terminal_is_borne() {
        let mut app = app();
        app.details = true;
        for (width, height) in [(1, 1), (10, 2), (20, 4)] {
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            terminal.draw(|frame| draw(frame, &mut app)).unwrap();
        }
    }
}
