//! Zenoh, without a router: publishers listen, subscribers connect to them, and nobody else is met. By the way of a run: `tcp` or `unix` sockets, with the longest queue that there is; or
//! `shm`, shared memory that is filled and read in place, beside unix sockets, through its low-latency transport, which takes nothing above 64 KB and so none of the others' messages.
//! Messages are reliable, are not gathered (express), and block the publisher where there is no room; subscribers have a callback, or look into a ring.

use std::collections::HashSet;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use driver::{Arrivals, Header, Result, Run, connect, fail, now_ns, publish_all};
use zenoh::config::Config;
use zenoh::handlers::RingChannel;
use zenoh::qos::CongestionControl;
use zenoh::sample::Sample;
use zenoh::shm::{BlockOn, GarbageCollect, PosixShmProviderBackend, ShmProvider, ShmProviderBuilder};
use zenoh::{Session, Wait};

const DEPTH: usize = 8;

/// How one end finds another.
struct Way<'a> {
    run: &'a Run,
    shm: bool,
    tcp: bool,
}

impl<'a> Way<'a> {
    fn of(run: &'a Run) -> Result<Self> {
        let way = run.way.as_str();
        if !["tcp", "unix", "shm"].contains(&way) {
            return Err("zenoh carries messages by tcp, unix or shm".into());
        }
        Ok(Way { run, shm: way == "shm", tcp: way == "tcp" })
    }

    /// In the folder of the run: the file that tells where a publisher listens.
    fn path(&self, publisher: usize) -> String {
        format!("{}/zenoh-{publisher}", self.run.folder)
    }

    fn open(&self, listen: &[&str], connect: &[&str]) -> Result<Session> {
        let mut config = Config::default();
        for (key, value) in [
            ("mode", "\"peer\"".to_owned()),
            ("scouting/multicast/enabled", "false".to_owned()),
            ("scouting/gossip/enabled", "false".to_owned()),
            ("listen/endpoints", format!("{listen:?}")),
            ("connect/endpoints", format!("{connect:?}")),
            ("connect/exit_on_failure", "true".to_owned()),
            ("transport/shared_memory/enabled", self.shm.to_string()),
            ("transport/unicast/lowlatency", self.shm.to_string()),
            ("transport/unicast/qos/enabled", (!self.shm).to_string()), // low latency does without
            ("transport/link/tx/queue/size/data", "16".to_owned()),
        ] {
            config.insert_json5(key, &value)?;
        }
        zenoh::open(config).wait()
    }

    /// The session of a publisher, which subscribers find from here on.
    fn listen(&self) -> Result<Session> {
        let path = self.path(self.run.index);
        let endpoint = if self.tcp {
            // Zenoh does not tell which port it got, so it is given one that is free.
            format!("tcp/{}", TcpListener::bind("127.0.0.1:0")?.local_addr()?)
        } else {
            format!("unixsock-stream/{path}.sock")
        };
        let session = self.open(&[&endpoint], &[])?;
        fs::write(format!("{path}.coming"), endpoint)?;
        fs::rename(format!("{path}.coming"), path)?;
        Ok(session)
    }

    /// The session of a subscriber, with a link to each publisher.
    fn connect(&self) -> Result<Session> {
        let mut endpoints = Vec::new();
        for path in (0..self.run.publishers).map(|publisher| self.path(publisher)) {
            while !Path::new(&path).exists() {
                sleep(Duration::from_millis(1));
            }
            endpoints.push(fs::read_to_string(path)?);
        }
        self.open(&[], &endpoints.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// As large as sixteen messages, twice what is under way in a queue.
fn provider_of(run: &Run) -> Result<ShmProvider<PosixShmProviderBackend>> {
    let backend = PosixShmProviderBackend::builder(2 * DEPTH * (Header::SIZE + run.largest() + 4096)).wait()?;
    Ok(ShmProviderBuilder::backend(backend).wait())
}

fn publish(run: &Run) -> Result<()> {
    let way = Way::of(run)?;
    let session = way.listen()?;
    let publisher = session.declare_publisher(&run.topic).congestion_control(CongestionControl::Block).express(true).wait()?;
    // A subscriber declares itself alive after its subscription, and both come by the same link, in this order.
    let there = session.liveliness().declare_subscriber(format!("there/{}/*", run.topic)).history(true).wait()?;
    let mut seen = HashSet::new();
    connect(|| {
        seen.extend(there.try_iter().map(|token| token.key_expr().to_string()));
        seen.len() == run.subscribers
    })?;
    if way.shm {
        let provider = provider_of(run)?;
        return publish_all(run, |header| {
            let size = Header::SIZE + run.size_of(header.number);
            // What all have read is used again before it leaves the cache.
            provider.garbage_collect();
            let mut memory = provider.alloc(size).with_policy::<BlockOn<GarbageCollect>>().wait()?;
            memory[Header::SIZE..].fill(header.value());
            header.sent = now_ns();
            memory[..Header::SIZE].copy_from_slice(&header.to_bytes());
            publisher.put(memory).wait()
        });
    }
    publish_all(run, |header| {
        let mut message = vec![header.value(); Header::SIZE + run.size_of(header.number)];
        header.sent = now_ns();
        message[..Header::SIZE].copy_from_slice(&header.to_bytes());
        publisher.put(message).wait()
    })
}

fn take(arrivals: &Arrivals, message: &[u8]) {
    let Some((header, payload)) = message.split_first_chunk() else { fail("a message without a header came") };
    arrivals.add(&Header::from_bytes(header), payload);
}

/// By sockets, a large message comes in pieces, which Zenoh puts together here.
fn receive(arrivals: &Arrivals, sample: &Sample, shm: bool) {
    let payload = sample.payload();
    match payload.as_shm() {
        Some(memory) => take(arrivals, memory),
        None if shm => fail("a message came by the socket instead of shared memory"),
        None => take(arrivals, &payload.to_bytes()),
    }
}

fn subscribe(run: &'static Run, arrivals: &'static Arrivals) -> Result<()> {
    let way = Way::of(run)?;
    let session = way.connect()?;
    let shm = way.shm;
    let there = || -> Result<_> {
        let token = session.liveliness().declare_token(format!("there/{}/{}", run.topic, run.index)).wait()?;
        connect(|| session.info().peers_zid().wait().count() == run.publishers)?;
        Ok(token)
    };
    if run.spins() {
        let subscriber = session.declare_subscriber(&run.topic).with(RingChannel::new(DEPTH * run.publishers)).wait()?;
        let _token = there()?;
        while arrivals.more() {
            match subscriber.try_recv()? {
                Some(sample) => receive(arrivals, &sample, shm),
                None => std::hint::spin_loop(),
            }
        }
    } else {
        let _subscriber = session.declare_subscriber(&run.topic).callback(move |sample| receive(arrivals, &sample, shm)).wait()?;
        let _token = there()?;
        arrivals.wait();
    }
    Ok(())
}

fn main() {
    driver::drive(publish, subscribe);
}
