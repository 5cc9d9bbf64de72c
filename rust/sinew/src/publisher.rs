//! Publishing messages.

use std::fmt;
use std::marker::PhantomData;

use sinew_msg::stream::Plain;

use crate::cdr::trace::type_of;
use crate::cdr::write::{self, Room, Written};
use crate::error::{Error, ErrorKind, Result};
use crate::message::Message;
use crate::node::Node;
use crate::qos::Qos;
use crate::raw;
use crate::raw::{PublisherOptions, PublisherStatistics};

/// Publishes messages of a type on a topic. What was published stays readable for those who hold it when this is dropped, and for those who were connected and have yet to take it.
///
/// ```no_run
/// use serde::{Deserialize, Serialize};
/// use sinew::{Node, Publisher, Qos};
///
/// #[derive(Serialize, Deserialize)]
/// #[serde(rename = "robot/Pose")]
/// struct Pose {
///     position: [f64; 3],
/// }
/// sinew::message!(Pose);
///
/// let node = Node::new("planner")?;
/// let poses = Publisher::<Pose>::new(&node, "pose", &Qos::default())?;
/// poses.publish(&Pose { position: [1.0, 2.0, 0.5] })?;
/// # Ok::<(), sinew::Error>(())
/// ```
pub struct Publisher<T> {
    publisher: raw::Publisher,
    messages: Written,
    of: PhantomData<fn(T)>,
}

impl<T: Message> Publisher<T> {
    /// Publishes on `topic`. Blocks until the manager has agreed. [`ErrorKind::TypeMismatch`] where the topic carries another type.
    pub fn new(node: &Node, topic: &str, qos: &Qos) -> Result<Publisher<T>> {
        Publisher::with_options(node, topic, qos, PublisherOptions::default())
    }

    /// The same, with options.
    pub fn with_options(node: &Node, topic: &str, qos: &Qos, options: PublisherOptions) -> Result<Publisher<T>> {
        let ty = type_of::<T>()?;
        let publisher = raw::Publisher::new(node, topic, &ty.to_string(), qos, options)?;
        Ok(Publisher { publisher, messages: Written::new(ty), of: PhantomData })
    }

    /// Writes the message into shared memory, once, whoever reads it. May wait, as [`raw::Publisher::publish`].
    pub fn publish(&self, message: &T::Read<'_>) -> Result<()> {
        self.loan(message)?.publish()
    }

    /// The same without publishing it yet: what the message has as [`Slice::room`](crate::Slice::room) can be written where subscribers will read it. May wait for memory, as [`raw::Publisher::loan`].
    ///
    /// ```no_run
    /// # use serde::{Deserialize, Serialize};
    /// # use sinew::{Node, Publisher, Qos, Slice};
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Image<'a> { width: u32, height: u32, #[serde(borrow)] data: Slice<'a, u8> }
    /// # sinew::message!(Image<'a>);
    /// # fn capture(into: &mut [u8]) {}
    /// # let node = Node::new("camera")?;
    /// let images = Publisher::<Image>::new(&node, "image", &Qos::default())?;
    /// let mut loan = images.loan(&Image { width: 1920, height: 1080, data: Slice::room(1920 * 1080 * 3) })?;
    /// capture(loan.room(0)?);
    /// loan.publish()?;
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn loan(&self, message: &T::Read<'_>) -> Result<Loan<'_, T>> {
        let size = write::size_of(message)?;
        let mut loan = self.publisher.loan(size)?;
        let rooms = write::write(message, &mut loan.bytes()[..size])?;
        self.messages.check(&loan.bytes()[..size])?;
        Ok(Loan { loan, size, rooms, of: PhantomData })
    }

    /// For [`Qos::manual_by_topic`].
    pub fn assert_liveliness(&self) {
        self.publisher.assert_liveliness();
    }

    /// Counts since it was created.
    pub fn statistics(&self) -> PublisherStatistics {
        self.publisher.statistics()
    }
}

impl<T> fmt::Debug for Publisher<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.publisher.fmt(to)
    }
}

/// A message in shared memory that is not published yet. Given back when it is dropped.
pub struct Loan<'p, T> {
    loan: raw::Loan<'p>,
    size: usize,
    rooms: Vec<Room>,
    of: PhantomData<fn(T)>,
}

impl<T> Loan<'_, T> {
    /// The elements of the n-th [`Slice::room`](crate::Slice::room) of the message, counted from 0 in the order of the fields. They are zero. [`ErrorKind::InvalidArgument`] where it has no such room, or of other numbers.
    pub fn room<N: Plain>(&mut self, nth: usize) -> Result<&mut [N]> {
        let invalid = |why: String| Error::new(ErrorKind::InvalidArgument, why);
        let rooms = self.rooms.len();
        let room = *self.rooms.get(nth).ok_or_else(|| invalid(format!("there is no room {nth}: the message has {rooms}")))?;
        if room.number != N::NUMBER {
            return Err(invalid(format!("room {nth} is for {}, not for {}", room.number.name(), N::NUMBER.name())));
        }
        if room.count == 0 {
            return Ok(&mut []); // no padding stands before nothing (C2.4)
        }
        let bytes = &mut self.loan.bytes()[room.offset..][..room.count * room.number.size()];
        // Bodies of streams are aligned to 16, and numbers in them to their sizes.
        bytemuck::try_cast_slice_mut(bytes).map_err(|why| invalid(format!("room {nth} is not aligned: {why}")))
    }

    /// Publishes it. May wait, as [`raw::Loan::publish`].
    pub fn publish(self) -> Result<()> {
        self.loan.publish(self.size)
    }
}

impl<T> fmt::Debug for Loan<'_, T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Loan").field("size", &self.size).field("rooms", &self.rooms).finish_non_exhaustive()
    }
}
