//! How gateways look.

use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table};
use sinew::{GatewayChannel, GatewayPeer, GatewayStatus};

use super::draw::{bold, right};
use crate::gateways::{LOSSY, rates_of};
use crate::output::{counted, shown};
use crate::units::{bytes, nanoseconds, three_digits};

/// Links that are shown at most; more are counted.
const MOST: usize = 5;

/// A line for each peer.
pub fn lines_of_links(gateways: &[GatewayStatus]) -> Vec<Line<'static>> {
    let links: Vec<_> = gateways.iter().flat_map(|gateway| gateway.peers.iter().map(move |peer| (gateway, peer))).collect();
    let mut lines: Vec<_> = links.iter().take(MOST).map(|(gateway, peer)| line_of(gateway, peer)).collect();
    if links.len() > MOST {
        lines.push(Line::styled(format!("and {} more", counted((links.len() - MOST) as u64, "link")), Modifier::DIM));
    }
    lines
}

fn line_of(gateway: &GatewayStatus, peer: &GatewayPeer) -> Line<'static> {
    let names = bold(format!("{} <-> {}  ", shown(&gateway.name), shown(&peer.name)));
    if !peer.connected {
        return Line::from(vec![names, Span::styled("not connected", Color::Red)]);
    }
    let loss = Style::from(if peer.loss > LOSSY { Color::Yellow } else { Color::Reset });
    Line::from(vec![
        names,
        Span::raw(format!(
            "{}  round trip {}  out {}/s  in {}/s  ",
            shown(&peer.address),
            nanoseconds(peer.round_trip_ns as f64),
            bytes(peer.sent_bytes_per_s),
            bytes(peer.received_bytes_per_s)
        )),
        Span::styled(format!("loss {} %", three_digits(100.0 * peer.loss)), loss),
    ])
}

/// What goes over all links.
pub fn draw_channels(frame: &mut Frame<'_>, gateways: &[GatewayStatus], area: Rect) {
    if gateways.is_empty() {
        frame.render_widget(Paragraph::new("there is no gateway in this domain"), area);
        return;
    }
    let peers = gateways.iter().flat_map(|gateway| &gateway.peers);
    let rows = peers.flat_map(|peer| peer.channels.iter().map(move |channel| row_of(peer, channel)));
    let titles = ["channel", "kind", "way", "peer", "rate", "bandwidth", "lost", "state"];
    let widths = [
        Constraint::Fill(3),
        Constraint::Length(7),
        Constraint::Length(4),
        Constraint::Fill(1),
        Constraint::Length(10),
        Constraint::Length(11),
        Constraint::Length(9),
        Constraint::Fill(3),
    ];
    frame.render_widget(Table::new(rows, widths).header(Row::new(titles).style(Modifier::BOLD | Modifier::UNDERLINED)), area);
}

fn row_of(peer: &GatewayPeer, channel: &GatewayChannel) -> Row<'static> {
    let state = match channel.state.as_str() {
        "open" => Style::from(Color::Green),
        "refused" => Style::from(Color::Red),
        _ => Style::from(Modifier::DIM),
    };
    let said = if channel.why.is_empty() { shown(&channel.state) } else { shown(&channel.why) };
    let [rate, bandwidth] = rates_of(channel);
    Row::new([
        Cell::from(shown(&channel.name)).style(Color::Cyan),
        Cell::from(shown(&channel.kind)),
        Cell::from(if channel.outgoing { "out" } else { "in" }),
        Cell::from(shown(&peer.name)),
        right(rate),
        right(bandwidth),
        right(if channel.lost == 0 { String::new() } else { channel.lost.to_string() }),
        Cell::from(said).style(state),
    ])
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::super::app::App;
    use super::super::draw::draw;
    use super::*;
    use crate::cli::Order;
    use crate::domain::View;

    fn gateway() -> GatewayStatus {
        let channel = GatewayChannel {
            name: "camera/image".to_owned(),
            kind: "topic".to_owned(),
            outgoing: true,
            state: "open".to_owned(),
            lost: 533,
            messages_per_s: 5.9,
            bytes_per_s: 5.9e6,
            ..GatewayChannel::default()
        };
        let base = GatewayPeer {
            name: "base".to_owned(),
            connected: true,
            address: "10.0.0.2:7463".to_owned(),
            round_trip_ns: 12_300_000,
            sent_bytes_per_s: 6.2e6,
            loss: 0.05,
            channels: vec![channel],
            ..GatewayPeer::default()
        };
        let pit = GatewayPeer { name: "pit".to_owned(), ..GatewayPeer::default() };
        GatewayStatus { name: "drone".to_owned(), peers: vec![base, pit], ..GatewayStatus::default() }
    }

    fn screen(channels: bool) -> String {
        let mut app = App::new(View::default(), "", Order::Name);
        (app.gateways, app.channels) = (vec![gateway()], channels);
        let mut terminal = Terminal::new(TestBackend::new(120, 12)).unwrap();
        terminal.draw(|frame| draw(frame, &mut app)).unwrap();
        let cells = terminal.backend().buffer().content.iter().map(|cell| cell.symbol()).collect::<Vec<_>>();
        cells.chunks(120).map(|line| line.concat().trim_end().to_owned() + "\n").collect()
    }

    #[test]
    fn links_stand_below_the_topics() {
        let screen = screen(false);
        let told =
            "drone <-> base  10.0.0.2:7463  round trip 12.3 ms  out 6.20 MB/s  in 0 B/s  loss 5.00 %\ndrone <-> pit  not connected\n";
        assert!(screen.contains(told), "{screen}");
    }

    #[test]
    fn what_goes_over_them_stands_in_place_of_the_topics() {
        let screen = screen(true);
        let row = screen.lines().find(|line| line.starts_with("camera/image")).unwrap_or_else(|| panic!("{screen}"));
        for part in ["topic", "out", "base", "5.90/s", "5.90 MB/s", "533", "open"] {
            assert!(row.contains(part), "{part}: {screen}");
        }
    }
}
