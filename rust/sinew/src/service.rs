//! Services.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::cdr::read;
use crate::cdr::trace::{signature_of, type_of};
use crate::cdr::write::Written;
use crate::error::Result;
use crate::message::Message;
use crate::node::Node;
use crate::raw;
use crate::raw::{ClientOptions, ClientStatistics, MessageInfo, ProviderOptions, ProviderStatistics};
use crate::subscriber::Received;

/// Calls a service. It need not have a provider: calls wait for one.
///
/// ```no_run
/// use serde::{Deserialize, Serialize};
/// use sinew::{Client, Node, Provider};
///
/// #[derive(Serialize, Deserialize)]
/// struct Add { a: i64, b: i64 }
/// #[derive(Serialize, Deserialize)]
/// struct Sum { sum: i64 }
/// sinew::message!(Add);
/// sinew::message!(Sum);
///
/// let node = Node::new("adder")?;
/// let provider = Provider::<Add, Sum>::new(&node, "add", &Default::default(), |call| {
///     let sum = call.request().map(|add| Sum { sum: add.a + add.b });
///     let _ = match sum {
///         Ok(sum) => call.answer(&sum),
///         Err(error) => call.fail(&error.to_string()),
///     };
/// })?;
/// let client = Client::<Add, Sum>::new(&node, "add", &Default::default())?;
/// assert_eq!(client.call(&Add { a: 2, b: 3 }, None)?.read()?.sum, 5);
/// # Ok::<(), sinew::Error>(())
/// ```
pub struct Client<Q, R> {
    client: raw::Client,
    requests: Written,
    of: PhantomData<fn(Q) -> R>,
}

impl<Q: Message, R: Message> Client<Q, R> {
    /// A client of `service`. Blocks until the manager has agreed. [`ErrorKind::TypeMismatch`](crate::ErrorKind) where the service has other types.
    pub fn new(node: &Node, service: &str, options: &ClientOptions) -> Result<Client<Q, R>> {
        let request = type_of::<Q>()?;
        let client = raw::Client::new(node, service, &request.to_string(), &signature_of::<R>()?, options)?;
        Ok(Client { client, requests: Written::new(request), of: PhantomData })
    }

    /// Calls the service and waits for the response, at most `timeout`; none is for ever. Not on the execution thread that is to answer.
    pub fn call(&self, request: &Q::Read<'_>, timeout: impl Into<Option<Duration>>) -> Result<Received<R>> {
        let stream = self.requests.stream_of(request)?;
        Ok(Received::of(self.client.call(&[&stream], timeout)?))
    }

    /// The same without waiting: what is returned is a future of any runtime. The call is made at once; dropping the future cancels it.
    pub fn start(&self, request: &Q::Read<'_>, timeout: impl Into<Option<Duration>>) -> Result<Response<R>> {
        let response = self.client.start(self.requests.stream_of(request)?, timeout)?;
        Ok(Response { response, of: PhantomData })
    }

    /// Counts since it was created.
    pub fn statistics(&self) -> ClientStatistics {
        self.client.statistics()
    }
}

impl<Q, R> fmt::Debug for Client<Q, R> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.client.fmt(to)
    }
}

/// A response that is to come.
#[must_use = "dropping it cancels the call"]
pub struct Response<R> {
    response: raw::Response,
    of: PhantomData<fn() -> R>,
}

impl<R: Message> Future for Response<R> {
    type Output = Result<Received<R>>;
    fn poll(mut self: Pin<&mut Response<R>>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.response).poll(context).map(|ended| ended.map(Received::of))
    }
}

impl<R> fmt::Debug for Response<R> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.response.fmt(to)
    }
}

/// Provides a service. Calls that were not answered when it is dropped stay to be ended.
pub struct Provider<Q, R> {
    provider: raw::Provider,
    of: PhantomData<fn(Q) -> R>,
}

impl<Q: Message, R: Message> Provider<Q, R> {
    /// Provides `service`, from now on. Blocks until the manager has agreed. Each call is given to `on_request`, on an execution thread of the node, one at a time; it, or somebody later, ends the call. A panic in it ends the process.
    pub fn new(
        node: &Node,
        service: &str,
        options: &ProviderOptions,
        mut on_request: impl FnMut(Call<Q, R>) + Send + 'static,
    ) -> Result<Provider<Q, R>> {
        let response = type_of::<R>()?;
        let signature = response.to_string();
        let responses = Arc::new(Written::new(response));
        let on_call = move |call| on_request(Call { call, responses: Arc::clone(&responses), of: PhantomData });
        let provider = raw::Provider::new(node, service, &signature_of::<Q>()?, &signature, options, on_call)?;
        Ok(Provider { provider, of: PhantomData })
    }

    /// Counts since it was created.
    pub fn statistics(&self) -> ProviderStatistics {
        self.provider.statistics()
    }
}

impl<Q, R> fmt::Debug for Provider<Q, R> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.provider.fmt(to)
    }
}

/// A request that is to be answered, on any thread, at once or later, as [`raw::Call`].
pub struct Call<Q, R> {
    call: raw::Call,
    responses: Arc<Written>,
    of: PhantomData<fn(Q) -> R>,
}

impl<Q: Message, R: Message> Call<Q, R> {
    /// Reads the request, as [`Received::read`].
    pub fn request(&self) -> Result<Q::Read<'_>> {
        let parts: Vec<&[u8]> = self.call.extents().collect();
        Ok(read::value_in(&parts)?)
    }

    /// Sends the response. Where that fails, the client is told, if it is there.
    pub fn answer(self, response: &R::Read<'_>) -> Result<()> {
        self.call.answer(&[&self.responses.stream_of(response)?])
    }
}

impl<Q, R> Call<Q, R> {
    /// Where the request is from: `publisher` is the name of the client's node.
    pub fn info(&self) -> MessageInfo {
        self.call.info()
    }

    /// Nobody waits for the response any more. It is to be ended nevertheless.
    pub fn is_cancelled(&self) -> bool {
        self.call.is_cancelled()
    }

    /// The call ends with [`ErrorKind::Failed`](crate::ErrorKind) and the text, of which 64 KiB are sent.
    pub fn fail(self, text: &str) -> Result<()> {
        self.call.fail(text)
    }
}

impl<Q, R> fmt::Debug for Call<Q, R> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.call.fmt(to)
    }
}
