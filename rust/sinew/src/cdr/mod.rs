//! Messages of serde as CDR streams (spec/cdr.md).

#[cfg(target_endian = "big")]
compile_error!("publishers of sinew write the least significant byte first, as all machines do that it runs on");

pub(crate) mod read;
pub(crate) mod trace;
pub(crate) mod write;

use std::fmt;

use sinew_msg::Number;

use crate::error::ErrorKind;

/// Why it cannot be read or written.
#[derive(Debug)]
pub(crate) struct Problem(String);

impl fmt::Display for Problem {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for Problem {}

impl serde::de::Error for Problem {
    fn custom<T: fmt::Display>(why: T) -> Problem {
        Problem(why.to_string())
    }
}

impl serde::ser::Error for Problem {
    fn custom<T: fmt::Display>(why: T) -> Problem {
        Problem(why.to_string())
    }
}

impl From<sinew_msg::stream::Malformed> for Problem {
    fn from(why: sinew_msg::stream::Malformed) -> Problem {
        Problem(why.to_string())
    }
}

impl From<Problem> for crate::Error {
    fn from(why: Problem) -> crate::Error {
        crate::Error::new(ErrorKind::InvalidMessage, why.0)
    }
}

/// Of the enumeration that serde calls `robot/Mode(int32)`: its name, and what it is made of.
fn enumeration_of(name: &str) -> Option<(&str, Number)> {
    let (name, number) = name.strip_suffix(')')?.rsplit_once('(')?;
    Number::of_name(number).filter(|number| number.is_integer()).map(|number| (name, number))
}

/// What is wrong with an enum of such a name that is none.
fn has_values(name: &str) -> Problem {
    Problem(format!("'{name}' is named as an enumeration, and its variants have values"))
}
