//! `sinew-gateway run`: until it is interrupted.

use std::path::{Path, PathBuf};

use clap::Args;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::bridge::Bridge;
use crate::config::{Ros1, Ros2, Settings, Transport, Zenoh};
use crate::gateway::Gateway;
use crate::security::Identity;
use crate::{dds, name, ros1};

/// What is shown of it with `--help`.
pub const EXAMPLES: &str = "\
Examples:
  sinew-gateway run robot.json
  kill -HUP $(pidof sinew-gateway)      reads the configuration again: its rules and certificates hold at once, all else from the next start on

Exit status: 0 when it was told to end (SIGTERM, Ctrl-C); 1 when it cannot run.";

/// Connect the domain of this machine with those of others
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Run {
    /// The configuration
    pub file: PathBuf,
}

/// Runs. Fails with a sentence.
pub fn run(asked: &Run) -> Result<(), String> {
    serve(Settings::read(&asked.file).map_err(|error| error.to_string())?, Some(&asked.file))
}

/// With these settings, which stand in the file, if they stand in one.
pub(super) fn serve(settings: Settings, file: Option<&Path>) -> Result<(), String> {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("info")).format_timestamp(None).format_target(false).init();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads())
        .enable_all()
        .build()
        .map_err(|why| format!("no threads could be started: {why}"))?;
    match settings.transport.clone() {
        Transport::Quic => {
            let identity = Identity::load(&settings.security).map_err(|error| error.to_string())?;
            runtime.block_on(serve_quic(file, settings, identity))
        }
        Transport::Zenoh(zenoh) => runtime.block_on(serve_zenoh(file, settings, zenoh)),
        Transport::Ros2(ros2) => runtime.block_on(serve_ros2(file, settings, ros2)),
        Transport::Ros1(ros1) => runtime.block_on(serve_ros1(file, settings, ros1)),
    }
}

/// Half of the cores: the machine has other things to do, and with fewer threads a small message wakes fewer of them on its way.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2))
}

/// What this program listens to.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    fn watched() -> Result<Signals, String> {
        let watched = |kind| signal(kind).map_err(|why| format!("signals cannot be watched: {why}"));
        let (interrupt, terminate) = (watched(SignalKind::interrupt())?, watched(SignalKind::terminate())?);
        Ok(Signals { interrupt, terminate, hang_up: watched(SignalKind::hangup())? })
    }

    /// True: the configuration is to be read again. False: it is over.
    async fn is_to_reload(&mut self) -> bool {
        tokio::select! {
            _ = self.interrupt.recv() => false,
            _ = self.terminate.recv() => false,
            _ = self.hang_up.recv() => true,
        }
    }
}

async fn serve_quic(file: Option<&Path>, settings: Settings, mut identity: Identity) -> Result<(), String> {
    let mut signals = Signals::watched()?;
    let gateway = Gateway::start(&settings, &identity).map_err(|why| why.to_string())?;
    log::info!("'{}' listens at {}", name::of(&settings), gateway.address());
    loop {
        tokio::select! {
            is_to_reload = signals.is_to_reload() => {
                if !is_to_reload {
                    break;
                }
                reload(file, &gateway, &mut identity);
            }
            () = identity.changed() => gateway.renew(&identity),
        }
    }
    log::info!("leaving");
    gateway.end().await;
    Ok(())
}

#[cfg(feature = "zenoh")]
async fn serve_zenoh(file: Option<&Path>, settings: Settings, zenoh: Zenoh) -> Result<(), String> {
    let bridge = crate::zenoh::start(&settings, &zenoh).map_err(|why| why.to_string())?;
    match &zenoh.ros2 {
        Some(ros2) => log::info!("'{}' joins ROS 2 over Zenoh in domain {}", name::of(&settings), ros2.domain_id),
        None => log::info!("'{}' joins the Zenoh network, below '{}'", name::of(&settings), zenoh.prefix),
    }
    follow(file, &settings, bridge).await
}

async fn serve_ros2(file: Option<&Path>, settings: Settings, ros2: Ros2) -> Result<(), String> {
    let bridge = dds::start(&settings, &ros2).map_err(|why| why.to_string())?;
    log::info!("'{}' joins ROS 2 in domain {}", name::of(&settings), ros2.domain_id);
    follow(file, &settings, bridge).await
}

async fn serve_ros1(file: Option<&Path>, settings: Settings, asked: Ros1) -> Result<(), String> {
    let bridge = ros1::start(&settings, &asked).map_err(|why| why.to_string())?;
    log::info!("'{}' joins ROS 1", name::of(&settings));
    follow(file, &settings, bridge).await
}

/// Until it is interrupted.
async fn follow(file: Option<&Path>, settings: &Settings, bridge: Bridge) -> Result<(), String> {
    let mut signals = Signals::watched()?;
    while signals.is_to_reload().await {
        match read_again(file, &settings.transport) {
            Ok((file, settings)) => {
                bridge.change(&settings);
                log::info!("the rules of {} hold from now on", file.display());
            }
            Err(why) => log::error!("nothing has changed: {why}"),
        }
    }
    log::info!("leaving");
    bridge.end().await;
    Ok(())
}

#[cfg(not(feature = "zenoh"))]
async fn serve_zenoh(file: Option<&Path>, _settings: Settings, _zenoh: Zenoh) -> Result<(), String> {
    Err(format!(
        "{} says \"transport\": \"zenoh\", but this sinew-gateway was built without it: build it with the feature 'zenoh', which it has unless --no-default-features is said",
        file.unwrap_or(Path::new("the configuration")).display()
    ))
}

/// What is to hold from now on. Another transport needs a new start: nothing of it may hold half.
fn read_again<'a>(file: Option<&'a Path>, transport: &Transport) -> Result<(&'a Path, Settings), String> {
    let file = file.ok_or("there is no configuration that could be read again")?;
    let settings = Settings::read(file).map_err(|error| error.to_string())?;
    if std::mem::discriminant(&settings.transport) != std::mem::discriminant(transport) {
        return Err(format!("{} has another \"transport\" now, for which the gateway has to be started anew", file.display()));
    }
    Ok((file, settings))
}

/// What is wrong changes nothing.
fn reload(file: Option<&Path>, gateway: &Gateway, identity: &mut Identity) {
    let renewed = read_again(file, &Transport::Quic)
        .and_then(|(file, settings)| Ok((Identity::load(&settings.security).map_err(|error| error.to_string())?, file, settings)));
    match renewed {
        Ok((renewed, file, settings)) => {
            *identity = renewed;
            gateway.change(&settings, identity);
            log::info!("the rules and certificates of {} hold from now on", file.display());
        }
        Err(why) => log::error!("nothing has changed: {why}"),
    }
}
