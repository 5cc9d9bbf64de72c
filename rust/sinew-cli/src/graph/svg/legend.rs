//! What the colours and shapes of a picture mean: of those that are in it.

use std::fmt::Write;

use super::super::model::{Graph, Way};
use super::text::width;
use super::{RATE_SIZE, class_of};

/// Below the picture.
pub struct Legend {
    /// At its own origin.
    pub drawn: String,
    /// Of it.
    pub width: f64,
    /// Of it.
    pub height: f64,
}

const LINE: f64 = 22.0;
const SYMBOL: f64 = 30.0;
const GAP: f64 = 22.0;

fn meaning(way: Way) -> &'static str {
    match way {
        Way::Alone => "waits for a publisher",
        Way::Free => "read in place (native, pointer)",
        Way::View => "arrays read in place (view)",
        Way::Copied => "copied",
        Way::Broken => "not connected: point at it for the reason",
    }
}

/// In lines that are about as wide as the picture.
pub fn legend(graph: &Graph, wide: f64) -> Legend {
    let has = |services| graph.topics.iter().any(|topic| topic.is_service == services);
    let mut entries: Vec<(String, &str)> = Vec::new();
    if !graph.nodes.is_empty() {
        entries.push(("<rect class=\"node\" x=\"4\" y=\"-7\" width=\"22\" height=\"14\" rx=\"4\"/>".to_owned(), "node"));
    }
    if has(false) {
        entries.push(("<rect class=\"topic\" x=\"2\" y=\"-7\" width=\"26\" height=\"14\" rx=\"7\"/>".to_owned(), "topic"));
    }
    if has(true) {
        entries.push(("<path class=\"service\" d=\"M2 0L8 -7H22L28 0L22 7H8Z\"/>".to_owned(), "service"));
    }
    let mut ways: Vec<Way> = graph.topics.iter().flat_map(|topic| &topic.subscribers).map(|subscriber| subscriber.way()).collect();
    ways.sort_unstable();
    ways.dedup();
    let lines =
        ways.iter().map(|way| (format!("<path class=\"link {}\" stroke-width=\"2.5\" d=\"M2 0H28\"/>", class_of(*way)), meaning(*way)));
    entries.extend(lines);
    let (mut x, mut y, mut widest, mut drawn) = (0.0, 0.0, 0.0, String::new());
    for (symbol, text) in entries {
        let own = SYMBOL + width(text, RATE_SIZE);
        if x > 0.0 && x + own > wide.max(560.0) {
            (x, y) = (0.0, y + LINE);
        }
        let _ = writeln!(
            drawn,
            "<g transform=\"translate({x:.1} {y:.1})\">{symbol}<text class=\"note\" x=\"{:.1}\" y=\"4\">{text}</text></g>",
            SYMBOL + 4.0
        );
        x += own + GAP;
        widest = f64::max(widest, x - GAP + 4.0);
    }
    let measured = format!("Rates over {:.1} s; the thicker, the more bytes.", graph.seconds);
    y += if drawn.is_empty() { 0.0 } else { LINE };
    let _ = writeln!(drawn, "<text class=\"note\" x=\"2\" y=\"{:.1}\">{measured}</text>", y + 4.0);
    Legend { drawn, width: f64::max(widest, width(&measured, RATE_SIZE)), height: y + 4.0 }
}
