//! `sinew-gateway run`: until it is interrupted.

use std::path::PathBuf;

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use crate::config::Settings;
use crate::gateway::Gateway;
use crate::security::Identity;

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
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("info")).format_timestamp(None).format_target(false).init();
    let settings = Settings::read(&asked.file).map_err(|error| error.to_string())?;
    let identity = Identity::load(&settings.security).map_err(|error| error.to_string())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads())
        .enable_all()
        .build()
        .map_err(|why| format!("no threads could be started: {why}"))?;
    runtime.block_on(serve(asked, settings, identity))
}

/// Half of the cores: the machine has other things to do, and with fewer threads a small message wakes fewer of them on its way.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2))
}

async fn serve(asked: &Run, settings: Settings, mut identity: Identity) -> Result<(), String> {
    let watched = |kind| signal(kind).map_err(|why| format!("signals cannot be watched: {why}"));
    let (mut interrupt, mut terminate, mut hang_up) =
        (watched(SignalKind::interrupt())?, watched(SignalKind::terminate())?, watched(SignalKind::hangup())?);
    let gateway = Gateway::start(&settings, &identity).map_err(|why| why.to_string())?;
    log::info!("'{}' listens at {}", settings.name, gateway.address());
    loop {
        tokio::select! {
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
            _ = hang_up.recv() => reload(asked, &gateway, &mut identity),
            () = identity.changed() => gateway.renew(&identity),
        }
    }
    log::info!("leaving");
    gateway.end().await;
    Ok(())
}

/// What is wrong changes nothing.
fn reload(asked: &Run, gateway: &Gateway, identity: &mut Identity) {
    let read = Settings::read(&asked.file).map_err(|error| error.to_string());
    let renewed = read.and_then(|settings| Ok((Identity::load(&settings.security).map_err(|error| error.to_string())?, settings)));
    match renewed {
        Ok((renewed, settings)) => {
            *identity = renewed;
            gateway.change(&settings, identity);
            log::info!("the rules and certificates of {} hold from now on", asked.file.display());
        }
        Err(why) => log::error!("nothing has changed: {why}"),
    }
}
