//! The session in the Zenoh network.

use std::time::Duration;

use serde_json::Value;
use zenoh::{Config, Session, Wait};

use super::said;
use crate::config;

/// Between two attempts to join it.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(8);

/// What Zenoh is to do, or a sentence why that cannot be.
pub fn config(asked: &config::Zenoh) -> Result<Config, String> {
    let mut config = match &asked.config_file {
        Some(file) => Config::from_file(file)
            .map_err(|why| format!("Zenoh's own configuration, {}, cannot be used: {}", file.display(), said(&why)))?,
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
    let mut pause = FIRST;
    loop {
        match zenoh::open(config.clone()).await {
            Ok(session) => return session,
            Err(why) => log::warn!("the Zenoh network cannot be joined yet, which is tried again in {} s: {}", pause.as_secs(), said(&why)),
        }
        tokio::time::sleep(pause).await;
        pause = (2 * pause).min(LONGEST);
    }
}

/// Whether anybody is there.
pub fn is_connected(session: &Session) -> bool {
    let info = session.info();
    info.routers_zid().wait().next().is_some() || info.peers_zid().wait().next().is_some()
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
    fn what_zenoh_does_not_take_is_told_with_where_it_stands() {
        let missing = config::Zenoh { config_file: Some("/nowhere/zenoh.json5".into()), ..config::Zenoh::default() };
        let why = config(&missing).expect_err("it is not there");
        assert!(why.starts_with("Zenoh's own configuration, /nowhere/zenoh.json5, cannot be used: "), "{why}");
    }
}
