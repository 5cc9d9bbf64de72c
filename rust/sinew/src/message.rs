//! Types of messages.

use serde::{Deserialize, Serialize};

/// A type of messages: what serde can read and write, and knows all about when it has none. It is made one by [`message!`](crate::message!).
///
/// What other languages call its parts is what serde does: structures and fields have their names, or those that `#[serde(rename = "...")]` gives them. Names of types, `robot/Image`, are for people; fields must be called the same
/// for two programs to meet.
///
/// | in Rust | in a signature | in C++ |
/// | --- | --- | --- |
/// | `bool`, `u8` to `i64`, `f32`, `f64` | `bool`, `uint8` to `int64`, `float32`, `float64` | the same |
/// | `String`, `&str` | `string` | `std::string` |
/// | [`Slice<u8>`](crate::Slice), `Vec<T>`, `&[u8]` | `uint8[]`, `T[]` | `std::vector<T>` |
/// | `[T; N]` | `T[N]` | `std::array<T, N>` |
/// | `Option<T>` | `T?` | `std::optional<T>` |
/// | `HashMap<K, V>`, `BTreeMap<K, V>` | `entry<K,V>{key:K;value:V;}[]` | `std::map<K, V>` |
/// | `struct` | `Name{field:T;...}` | `struct` |
/// | `struct Name(T)` | `T` | |
/// | `(A, B)` | `tuple<A,B>{_0:A;_1:B;}`, of equal types `A[2]` | `std::tuple<A, B>` |
/// | `enum` with values | `(A\|B)` | `std::variant<A, B>` |
/// | `enum` without, and `struct Name(u8)`, named `Name(uint8)` by serde | `Name(uint8)` | `enum class Name : uint8_t` |
///
/// `&str`, `&[u8]`, `Slice` and what else serde is asked to lend are looked at where the publisher wrote them, and all else is copied first. What lies there does not change, unless the publisher's process runs wild, as of a
/// [`Frame`](crate::raw::Frame): who must be safe from that has `String` and `Vec<u8>`. A publisher may also write a message in several parts: a `&str` or `&[u8]` that lies in two of them cannot be lent, and the message cannot be read, with a `Slice`, which is a copy then, it can.
///
/// Serde has no arrays of more than 32 elements: those are `#[serde(with = "serde_big_array::BigArray")] covariance: [f64; 36]`, by the crate `serde-big-array`.
///
/// Variants of an `enum` are 0, 1, 2 and so on, in their order, whatever `= 7` says of one, which serde does not tell. Those that are `#[serde(skip)]` stand behind all others, for serde counts them only when it writes. An enumeration that has other values in C++ or Python is a `struct Name(u8)`.
///
/// Not among them: `char`, integers of 16 bytes, `usize` where it has 4 bytes, types that contain themselves, and what asks the stream of which type it is, as `#[serde(untagged)]` and `#[serde(flatten)]` do. They are refused where a
/// publisher or subscriber is made. Nor what serde writes in another way than it reads it, as a structure with a field that is only `#[serde(skip_serializing)]`, or only `#[serde(skip_deserializing)]`; `#[serde(skip)]` is both. A
/// publisher, client or provider looks at the first message that it writes, and refuses it then: [`ErrorKind::InvalidMessage`](crate::ErrorKind).
pub trait Message: 'static {
    /// The type as it is read from a message that is there for `'a`. Of a type that borrows nothing, itself.
    type Read<'a>: Deserialize<'a> + Serialize;
}

/// Makes messages of types that derive `Serialize` and `Deserialize`; those that borrow from the message are given with their lifetime.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use sinew::Slice;
///
/// #[derive(Serialize, Deserialize)]
/// #[serde(rename = "robot/Pose")]
/// struct Pose {
///     position: [f64; 3],
///     orientation: [f64; 4],
/// }
///
/// #[derive(Serialize, Deserialize)]
/// #[serde(rename = "robot/Image")]
/// struct Image<'a> {
///     width: u32,
///     #[serde(borrow)]
///     encoding: &'a str,
///     #[serde(borrow)]
///     data: Slice<'a, u8>,
/// }
///
/// sinew::message!(Pose);
/// sinew::message!(Image<'a>);
///
/// assert_eq!(sinew::signature_of::<Image>()?, "robot/Image{width:uint32;encoding:string;data:uint8[];}");
/// # Ok::<(), sinew::Error>(())
/// ```
#[macro_export]
macro_rules! message {
    ($name:ident) => {
        impl $crate::Message for $name {
            type Read<'a> = $name;
        }
    };
    ($name:ident<$lifetime:lifetime>) => {
        impl $crate::Message for $name<'static> {
            type Read<$lifetime> = $name<$lifetime>;
        }
    };
}
