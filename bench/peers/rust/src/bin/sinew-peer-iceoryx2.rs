//! iceoryx2: a slice that the publisher loans, and an event after it, received by a thread that waits at a listener. Who spins needs no events.

use std::mem::MaybeUninit;

use driver::{Arrivals, Header, Result, Run, connect, now_ns, publish_all};
use iceoryx2::prelude::*;
use iceoryx2::service::port_factory::{event, publish_subscribe};

const DEPTH: usize = 8;
/// Payloads begin at a cache line, as `fill` likes it.
const LINE: usize = 64;

type Samples = publish_subscribe::PortFactory<ipc::Service, [u8], [u8; Header::SIZE]>;
type Events = event::PortFactory<ipc::Service>;

/// Everything that iceoryx2 leaves in the file system lies in the folder of the run, or in /dev/shm under the folder's name.
fn node_of(run: &Run) -> Result<Node<ipc::Service>> {
    set_log_level(LogLevel::Error);
    let mut config = Config::default();
    let name = run.folder.rsplit('/').next().unwrap_or_default();
    config.global.prefix = FileName::new(format!("{name}_").as_bytes())?;
    config.global.set_root_path(&Path::new(run.folder.as_bytes())?);
    Ok(NodeBuilder::new().config(&config).create::<ipc::Service>()?)
}

/// A queue lies between each publisher and each subscriber.
fn samples_of(run: &Run, node: &Node<ipc::Service>) -> Result<Samples> {
    Ok(node
        .service_builder(&run.topic.as_str().try_into()?)
        .publish_subscribe::<[u8]>()
        .user_header::<[u8; Header::SIZE]>()
        .payload_alignment(Alignment::new(LINE).ok_or("no alignment")?)
        .subscriber_max_buffer_size(DEPTH)
        .max_publishers(run.publishers)
        .max_subscribers(run.subscribers)
        .open_or_create()?)
}

fn events_of(run: &Run, node: &Node<ipc::Service>) -> Result<Events> {
    Ok(node
        .service_builder(&run.topic.as_str().try_into()?)
        .event()
        .event_id_max_value(1)
        .max_notifiers(run.publishers)
        .max_listeners(run.subscribers)
        .open_or_create()?)
}

fn publish(run: &Run) -> Result<()> {
    let node = node_of(run)?;
    let samples = samples_of(run, &node)?;
    let events = events_of(run, &node)?;
    let publisher = samples.publisher_builder().initial_max_slice_len(run.largest()).create()?;
    let notifier = if run.spins() { None } else { Some(events.notifier_builder().create()?) };
    connect(|| {
        let listeners = events.dynamic_config().number_of_listeners();
        samples.dynamic_config().number_of_subscribers() == run.subscribers && (run.spins() || listeners == run.subscribers)
    })?;
    publish_all(run, |header| {
        let mut sample = publisher.loan_slice_uninit(run.size_of(header.number))?;
        sample.payload_mut().fill(MaybeUninit::new(header.value()));
        header.sent = now_ns();
        *sample.user_header_mut() = header.to_bytes();
        // SAFETY: all of it was filled.
        unsafe { sample.assume_init() }.send()?;
        if let Some(notifier) = &notifier {
            notifier.notify()?;
        }
        Ok(())
    })
}

/// Waits for the listener alone: a `WaitSet` with nothing else in it was as fast, within what the machine varies.
fn subscribe(run: &'static Run, arrivals: &'static Arrivals) -> Result<()> {
    let node = node_of(run)?;
    let samples = samples_of(run, &node)?;
    let events = events_of(run, &node)?;
    let subscriber = samples.subscriber_builder().buffer_size(DEPTH).create()?;
    let listener = if run.spins() { None } else { Some(events.listener_builder().create()?) };
    connect(|| samples.dynamic_config().number_of_publishers() == run.publishers)?;
    while arrivals.more() {
        match &listener {
            Some(listener) => listener.blocking_wait(|_| {}).map(|_| ())?,
            None => std::hint::spin_loop(),
        }
        while let Some(sample) = subscriber.receive()? {
            arrivals.add(&Header::from_bytes(sample.user_header()), sample.payload());
        }
    }
    Ok(())
}

fn main() {
    driver::drive(publish, subscribe);
}
