//! A call that is to be answered.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::failure::{Done, Failure};
use crate::output::{shown, shown_lines};

/// How long to wait for a provider where nobody says it.
pub const FOR_A_PROVIDER: Duration = Duration::from_secs(5);

/// How often to look whether there is one.
pub const NOW_AND_THEN: Duration = Duration::from_millis(100);

/// It fails when its service has no provider any more, which others would wait for.
pub struct Pending<'a, F> {
    service: &'a str,
    response: F,
    providers: Box<dyn Fn() -> u64 + 'a>,
    provided_at: Instant,
}

impl<'a, T, F: Future<Output = sinew::Result<T>> + Unpin> Pending<'a, F> {
    /// Of a call that was made; `providers`: how many its client is connected with.
    pub fn new(service: &'a str, response: F, providers: impl Fn() -> u64 + 'a) -> Pending<'a, F> {
        Pending { service, response, providers: Box::new(providers), provided_at: Instant::now() }
    }

    /// The response, or why there is none. Not there yet: the waker is called when it comes; whether there is a provider is seen only when somebody polls.
    pub fn poll(&mut self, waker: &Waker) -> Option<Done<T>> {
        if let Poll::Ready(ended) = Pin::new(&mut self.response).poll(&mut Context::from_waker(waker)) {
            return Some(ended.map_err(|error| Failure::Failed(shown_lines(&error.to_string()))));
        }
        if (self.providers)() > 0 {
            self.provided_at = Instant::now();
        }
        let is_over = self.provided_at.elapsed() > FOR_A_PROVIDER;
        is_over.then(|| Err(Failure::Negative(format!("the provider of '{}' is gone", shown(self.service)))))
    }

    /// Waits for it.
    pub fn wait(mut self) -> Done<T> {
        let waker = Arc::new(Unpark(thread::current())).into();
        loop {
            if let Some(ended) = self.poll(&waker) {
                return ended;
            }
            thread::park_timeout(NOW_AND_THEN);
        }
    }
}

struct Unpark(Thread);
impl Wake for Unpark {
    fn wake(self: Arc<Unpark>) {
        self.0.unpark();
    }
}
