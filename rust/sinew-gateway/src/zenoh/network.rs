//! The session in the Zenoh network, and what goes over there.

use std::time::Duration;

use serde_json::Value;
use sinew::Node;
use tokio::runtime::Handle;
use zenoh::{Config, Session, Wait};

use super::inlet::Inlet;
use super::outlet::Outlet;
use super::provided::Provided;
use super::said;
use super::served::Served;
use crate::bridge::{Channel, Due, Key, Look, Network, Way};
use crate::config;
use crate::gateway::drawn;
use crate::protocol::Kind;

/// What all channels need. Cheap to clone.
#[derive(Clone)]
pub struct Place {
    /// In the domain.
    pub node: Node,
    /// Where tasks run.
    pub runtime: Handle,
    /// In the network.
    pub session: Session,
    /// What all key expressions begin with.
    pub prefix: String,
    /// Bytes.
    pub max_message: u64,
}

impl Place {
    /// By lot.
    pub fn drawn(&self) -> u64 {
        u128::from_le_bytes(drawn()) as u64
    }
}

/// The network, until it is left.
pub struct Joined(pub Place);

impl Network for Joined {
    fn name(&self) -> &'static str {
        "the Zenoh network"
    }

    fn tag(&self) -> &'static str {
        config::ZENOH
    }

    fn is_connected(&self) -> bool {
        let info = self.0.session.info();
        info.routers_zid().wait().next().is_some() || info.peers_zid().wait().next().is_some()
    }

    fn open(&self, (kind, name, way): &Key, due: &Due, look: Look) -> Result<Box<dyn Channel>, String> {
        let place = &self.0;
        Ok(match (kind, way) {
            (Kind::Topic, Way::Out) => Box::new(Outlet::open(place, name, due, look)?),
            (Kind::Topic, Way::In) => Box::new(Inlet::open(place, name, due)?),
            (Kind::Service, Way::Out) => Box::new(Served::open(place, name, due)?),
            (Kind::Service, Way::In) => Box::new(Provided::open(place, name, due, look)?),
        })
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        if let Err(why) = self.0.session.close().wait() {
            log::warn!("the Zenoh network could not be left as it should be: {}", said(&why));
        }
    }
}

/// Between two attempts to join it, at first.
pub const RETRY: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(8);

/// What Zenoh is to do, or a sentence why that cannot be.
pub fn config(asked: &config::Zenoh) -> Result<Config, String> {
    let mut config = match &asked.config_file {
        Some(file) => Config::from_file(file)
            .map_err(|why| format!("Zenoh's own configuration, {}, cannot be used: {}", file.display(), said(&why)))?,
        None if asked.ros2.is_some() => as_rmw_zenoh(asked.connect.is_empty())?,
        None => Config::default(),
    };
    if !asked.connect.is_empty() {
        let there = config.get_json("connect/endpoints").ok().and_then(|there| serde_json::from_str(&there).ok());
        let all = with(there.unwrap_or(Value::Null), &asked.connect);
        let set = config.insert_json5("connect/endpoints", &all.to_string());
        set.map_err(|why| {
            format!("\"connect\" of 'zenoh', which is {}, is not what Zenoh takes: {}", asked.connect.join(", "), said(&why))
        })?;
    }
    Ok(config)
}

/// What sessions of rmw_zenoh do where nobody says otherwise, so that a robot that runs its router needs no file.
fn as_rmw_zenoh(is_alone: bool) -> Result<Config, String> {
    let mut said_there = vec![
        ("mode", r#""peer""#),
        // From other machines all comes through routers.
        ("listen/endpoints", r#"["tcp/localhost:0"]"#),
        ("scouting/multicast/enabled", "false"),
        ("timestamping/enabled", r#"{ "router": true, "peer": true, "client": true }"#),
    ];
    said_there.extend(is_alone.then_some(("connect/endpoints", r#"["tcp/localhost:7447"]"#)));
    let mut config = Config::default();
    for (key, value) in said_there {
        config.insert_json5(key, value).map_err(|why| format!("Zenoh does not take '{key}': {}", said(&why)))?;
    }
    Ok(config)
}

/// Endpoints with more of them. What stands there is a list, or one for each mode.
fn with(there: Value, more: &[String]) -> Value {
    match there {
        Value::Array(mut list) => {
            list.extend(more.iter().cloned().map(Value::String));
            Value::Array(list)
        }
        Value::Object(modes) if !modes.is_empty() => modes.into_iter().map(|(mode, list)| (mode, with(list, more))).collect(),
        _ => with(Value::Array(Vec::new()), more),
    }
}

/// Joins it, and tries again where that fails: a robot may start before its router does.
pub async fn join(config: Config) -> Session {
    let mut pause = RETRY;
    loop {
        match zenoh::open(config.clone()).await {
            Ok(session) => return session,
            Err(why) => log::warn!("the Zenoh network cannot be joined yet, which is tried again in {} s: {}", pause.as_secs(), said(&why)),
        }
        tokio::time::sleep(pause).await;
        pause = (2 * pause).min(LONGEST);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn endpoints(config: &Config) -> Value {
        serde_json::from_str(&config.get_json("connect/endpoints").expect("there are some")).expect("it is JSON")
    }

    #[test]
    fn endpoints_are_added_to_those_of_the_file() {
        let folder = tempfile::tempdir().expect("there is room");
        let file = folder.path().join("zenoh.json5");
        let asked = config::Zenoh { config_file: Some(file.clone()), connect: vec!["tcp/[::1]:2".into()], ..config::Zenoh::default() };
        for (there, all) in [
            ("{}", json!(["tcp/[::1]:2"])),
            ("{ connect: { endpoints: ['tcp/[::1]:1'] } }", json!(["tcp/[::1]:1", "tcp/[::1]:2"])),
            ("{ connect: { endpoints: { client: ['tcp/[::1]:1'] } } }", json!(["tcp/[::1]:1", "tcp/[::1]:2"])),
        ] {
            std::fs::write(&file, there).expect("there is room");
            let config = config(&asked).expect("it is valid");
            let told = endpoints(&config);
            assert_eq!(told.get("client").unwrap_or(&told), &all, "{there}");
        }
    }

    #[test]
    fn of_ros_2_sessions_are_as_those_of_rmw_zenoh_where_no_file_says_otherwise() {
        let ros2 = config::Zenoh { ros2: Some(config::RmwZenoh::default()), ..config::Zenoh::default() };
        let local = config(&ros2).expect("it is valid");
        let said = |config: &Config, key: &str| config.get_json(key).expect("it is there");
        assert_eq!((endpoints(&local), said(&local, "mode").as_str()), (json!(["tcp/localhost:7447"]), r#""peer""#));
        assert_eq!(said(&local, "scouting/multicast/enabled"), "false");
        let other = config(&config::Zenoh { connect: vec!["tcp/[::1]:1".into()], ..ros2 }).expect("it is valid");
        let told = endpoints(&other);
        assert_eq!(told.get("peer").unwrap_or(&told), &json!(["tcp/[::1]:1"]));
    }

    #[test]
    fn what_zenoh_does_not_take_is_told_with_where_it_stands() {
        let missing = config::Zenoh { config_file: Some("/nowhere/zenoh.json5".into()), ..config::Zenoh::default() };
        let why = config(&missing).expect_err("it is not there");
        assert!(why.starts_with("Zenoh's own configuration, /nowhere/zenoh.json5, cannot be used: "), "{why}");
    }
}
