//! A call that is to be answered.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use sinew::raw::{Client, Frame, Response};

use crate::failure::{Done, Failure};
use crate::output::{shown, shown_lines};

/// How long to wait for a provider where nobody says it.
pub const FOR_A_PROVIDER: Duration = Duration::from_secs(5);

/// How often to look whether there is one.
pub const NOW_AND_THEN: Duration = Duration::from_millis(100);

/// It fails when its service has no provider any more, which others would wait for.
pub struct Pending<'a> {
    service: &'a str,
    client: &'a Client,
    response: Response,
    provided_at: Instant,
}

impl<'a> Pending<'a> {
    /// Calls.
    pub fn new(service: &'a str, client: &'a Client, request: Vec<u8>, timeout: Option<Duration>) -> Done<Pending<'a>> {
        Ok(Pending { service, client, response: client.start(request, timeout)?, provided_at: Instant::now() })
    }

    /// The response, or why there is none. Not there yet: the waker is called when it comes; whether there is a provider is seen only when somebody polls.
    pub fn poll(&mut self, waker: &Waker) -> Option<Done<Frame>> {
        if let Poll::Ready(ended) = Pin::new(&mut self.response).poll(&mut Context::from_waker(waker)) {
            return Some(ended.map_err(|error| Failure::Failed(shown_lines(&error.to_string()))));
        }
        if self.client.statistics().providers > 0 {
            self.provided_at = Instant::now();
        }
        let is_over = self.provided_at.elapsed() > FOR_A_PROVIDER;
        is_over.then(|| Err(Failure::Negative(format!("the provider of '{}' is gone", shown(self.service)))))
    }
}
