//! What `sinew top` shows, for programs.

use serde::Serialize;
use sinew::GatewayStatus;

use super::app::{App, Row};

/// Of one interval.
#[derive(Serialize)]
pub struct Told<'a> {
    nodes: usize,
    hz: f64,
    bytes_per_second: f64,
    /// In the order that was asked for.
    topics: Vec<Topic<'a>>,
    gateways: &'a [GatewayStatus],
}

#[derive(Serialize)]
struct Topic<'a> {
    topic: &'a str,
    #[serde(rename = "type")]
    type_name: &'a str,
    publishers: usize,
    subscribers: usize,
    hz: f64,
    bytes_per_second: f64,
    mean_bytes: Option<f64>,
    mean_ns: Option<f64>,
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
    held: u64,
    lost: u64,
    lost_ever: u64,
}

impl<'a> Told<'a> {
    /// As it would be shown now.
    pub fn of(app: &'a App) -> Told<'a> {
        Told {
            nodes: app.view.state.nodes.len(),
            hz: app.rows.iter().map(|row| row.flow.hz).sum(),
            bytes_per_second: app.rows.iter().map(|row| row.flow.bytes_per_second).sum(),
            topics: app.rows.iter().map(Topic::of).collect(),
            gateways: &app.gateways,
        }
    }
}

impl<'a> Topic<'a> {
    fn of(row: &'a Row) -> Topic<'a> {
        let flow = &row.flow;
        Topic {
            topic: &row.name,
            type_name: &row.type_name,
            publishers: flow.publishers,
            subscribers: flow.subscribers,
            hz: flow.hz,
            bytes_per_second: flow.bytes_per_second,
            mean_bytes: flow.mean_bytes,
            mean_ns: flow.latency.mean_ns(),
            p50_ns: flow.latency.quantile_ns(0.5),
            p99_ns: flow.latency.quantile_ns(0.99),
            held: flow.held,
            lost: flow.lost,
            lost_ever: flow.lost_ever,
        }
    }
}
