//! When a field of messages has a value that tells of trouble: `battery.percentage < 0.1`.

use std::str::FromStr;

use sinew::msg::path::Path;
use sinew::msg::stream::{Malformed, Reader};
use sinew::msg::{Number, Type};

use crate::domain::canonical;

/// A topic, a field of it, and what that is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    what: String,
    comparison: Comparison,
    value: Value,
    /// As it was written, for fields that are texts.
    literal: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Less,
    AtMost,
    Equal,
    NotEqual,
    AtLeast,
    More,
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Bool(bool),
    Integer(i128),
    Real(f64),
    Text(String),
}

/// A condition for messages of one type.
#[derive(Clone, Debug)]
pub struct Watch {
    path: Path,
    comparison: Comparison,
    value: Value,
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Condition, String> {
        let unreadable = || format!("'{text}' is no condition: 'battery.percentage < 0.1' and 'robot/state.mode == \"fault\"' are");
        // Words, as paths may have < and > in them.
        let mut words = text.trim().splitn(2, char::is_whitespace);
        let (what, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default().trim());
        let (comparison, value) = rest.split_once(char::is_whitespace).ok_or_else(unreadable)?;
        let comparison = match comparison {
            "<" => Comparison::Less,
            "<=" => Comparison::AtMost,
            "==" => Comparison::Equal,
            "!=" => Comparison::NotEqual,
            ">=" => Comparison::AtLeast,
            ">" => Comparison::More,
            _ => return Err(unreadable()),
        };
        let value = value.trim();
        let literal = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value).to_owned();
        let value = match (value, value.parse(), value.parse()) {
            ("true" | "false", ..) => Value::Bool(value == "true"),
            (_, Ok(integer), _) => Value::Integer(integer),
            (_, _, Ok(real)) => Value::Real(real),
            _ => Value::Text(literal.clone()),
        };
        Ok(Condition { text: text.trim().to_owned(), what: canonical(what).to_owned(), comparison, value, literal })
    }
}

impl Condition {
    /// As it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is about messages of this topic.
    pub fn is_about(&self, topic: &str) -> bool {
        self.field(topic).is_some()
    }

    /// For messages of this topic, which it is about.
    pub fn watch(&self, topic: &str, ty: &Type) -> Result<Watch, String> {
        let path = Path::new(ty, self.field(topic).unwrap_or_default()).map_err(|why| why.to_string())?;
        let mut target = path.target();
        while let Type::Optional(value) = target {
            target = value;
        }
        let is_ordered = matches!(self.value, Value::Integer(_) | Value::Real(_));
        let fits = match (target, &self.value) {
            (Type::Number(Number::Bool), Value::Bool(_)) => true,
            // A text may look like another value.
            (Type::String, _) => return Ok(Watch { path, comparison: self.equality()?, value: Value::Text(self.literal.clone()) }),
            (Type::Number(number), _) => is_ordered && *number != Number::Bool,
            (Type::Enumeration { .. }, _) => is_ordered,
            _ => false,
        };
        if !fits {
            return Err(format!("{} is compared with {}", target.name(), self.value));
        }
        let comparison = if is_ordered { self.comparison } else { self.equality()? };
        Ok(Watch { path, comparison, value: self.value.clone() })
    }

    fn equality(&self) -> Result<Comparison, String> {
        match self.comparison {
            Comparison::Equal | Comparison::NotEqual => Ok(self.comparison),
            _ => Err("only numbers are less or more than others".to_owned()),
        }
    }

    /// What stands behind the topic.
    fn field(&self, topic: &str) -> Option<&str> {
        let rest = self.what.strip_prefix(topic)?;
        if let Some(field) = rest.strip_prefix('.') {
            return Some(field);
        }
        (rest.is_empty() || rest.starts_with(['[', '<'])).then_some(rest)
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Bool(value) => write!(to, "{value}"),
            Value::Integer(value) => write!(to, "{value}"),
            Value::Real(value) => write!(to, "{value}"),
            Value::Text(value) => to.write_str(value),
        }
    }
}

impl Watch {
    /// Whether a message is as it says. One that has no such element or value is not.
    pub fn holds(&self, message: &mut Reader<'_>) -> Result<bool, Malformed> {
        let Some(mut target) = self.path.find(message)? else { return Ok(false) };
        while let Type::Optional(value) = target {
            if !message.has_value()? {
                return Ok(false);
            }
            target = value;
        }
        let order = match (target, &self.value) {
            (Type::Number(Number::Bool), Value::Bool(value)) => Some(message.bool()?.cmp(value)),
            (Type::String, Value::Text(value)) => Some(message.string()?.as_ref().cmp(value.as_bytes())),
            (Type::Number(number) | Type::Enumeration { number, .. }, value) => compare(message, *number, value)?,
            _ => None,
        };
        // Not a number is not equal to any.
        let Some(order) = order else { return Ok(self.comparison == Comparison::NotEqual) };
        Ok(match self.comparison {
            Comparison::Less => order.is_lt(),
            Comparison::AtMost => order.is_le(),
            Comparison::Equal => order.is_eq(),
            Comparison::NotEqual => order.is_ne(),
            Comparison::AtLeast => order.is_ge(),
            Comparison::More => order.is_gt(),
        })
    }
}

fn compare(message: &mut Reader<'_>, number: Number, value: &Value) -> Result<Option<std::cmp::Ordering>, Malformed> {
    let integer = match number {
        Number::Float32 => return Ok(compare_real(f64::from(message.number::<f32>()?), value)),
        Number::Float64 => return Ok(compare_real(message.number::<f64>()?, value)),
        Number::Bool => return Ok(None),
        Number::Int8 => message.number::<i8>()?.into(),
        Number::Int16 => message.number::<i16>()?.into(),
        Number::Int32 => message.number::<i32>()?.into(),
        Number::Int64 => message.number::<i64>()?.into(),
        Number::Uint8 => message.number::<u8>()?.into(),
        Number::Uint16 => message.number::<u16>()?.into(),
        Number::Uint32 => message.number::<u32>()?.into(),
        Number::Uint64 => message.number::<u64>()?.into(),
    };
    Ok(match value {
        Value::Integer(value) => Some(i128::cmp(&integer, value)),
        _ => compare_real(integer as f64, value),
    })
}

fn compare_real(real: f64, value: &Value) -> Option<std::cmp::Ordering> {
    match value {
        Value::Integer(value) => real.partial_cmp(&(*value as f64)),
        Value::Real(value) => real.partial_cmp(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether it holds for a message of this type that has this body.
    fn holds(condition: &str, ty: &str, body: &[u8]) -> Result<bool, String> {
        let watch = condition.parse::<Condition>()?.watch("t", &ty.parse().unwrap())?;
        let stream = [&[0, 1, 0, 0], body].concat();
        watch.holds(&mut Reader::new(&[&stream]).unwrap()).map_err(|why| why.to_string())
    }

    #[test]
    fn numbers_are_compared() {
        let less = |value: i32| holds("t.x < -10", "A{x:int32;}", &value.to_le_bytes());
        assert_eq!([less(-11), less(-10), less(5)], [Ok(true), Ok(false), Ok(false)]);
        for (comparison, expected) in [("<", false), ("<=", true), ("==", true), ("!=", false), (">=", true), (">", false)] {
            assert_eq!(holds(&format!("t.x {comparison} 2.5"), "A{x:float64;}", &2.5_f64.to_le_bytes()), Ok(expected), "{comparison}");
        }
        assert_eq!(holds("t.x > 18446744073709551614", "A{x:uint64;}", &u64::MAX.to_le_bytes()), Ok(true), "exact");
        assert_eq!(holds("t.x > 1.5", "A{x:uint8;}", &[2]), Ok(true));
        assert_eq!(holds("t.x == 7", "A{x:float32;}", &7_f32.to_le_bytes()), Ok(true));
        assert_eq!(holds("t.mode != 3", "A{mode:Mode(uint8);}", &[2]), Ok(true));
        assert_eq!(
            holds("t", "A{}", &[]),
            Err("'t' is no condition: 'battery.percentage < 0.1' and 'robot/state.mode == \"fault\"' are".into())
        );
        for (comparison, expected) in [("<", false), ("==", false), ("!=", true), (">=", false)] {
            assert_eq!(holds(&format!("t.x {comparison} 0"), "A{x:float32;}", &f32::NAN.to_le_bytes()), Ok(expected), "{comparison}");
        }
    }

    #[test]
    fn bools_and_texts_are_equal_or_not() {
        assert_eq!(holds("t.ok == false", "A{ok:bool;}", &[0]), Ok(true));
        let text = |condition: &str| holds(condition, "A{s:string;}", &[3, 0, 0, 0, b'1', b'0', 0]);
        assert_eq!([text("t.s == 10"), text("t.s == \"10\""), text("t.s != ok")], [Ok(true), Ok(true), Ok(true)]);
        for written in ["1.0", "007", "1e3", "nan"] {
            let body = [&(written.len() as u32 + 1).to_le_bytes(), written.as_bytes(), &[0]].concat();
            let told = |comparison: &str| holds(&format!("t.s {comparison} {written}"), "A{s:string;}", &body);
            assert_eq!([told("=="), told("!=")], [Ok(true), Ok(false)], "{written}");
        }
        assert_eq!(text("t.s < 11"), Err("only numbers are less or more than others".into()));
        assert_eq!(holds("t.ok > true", "A{ok:bool;}", &[0]), Err("only numbers are less or more than others".into()));
    }

    #[test]
    fn what_a_message_has_not_is_not_as_it_says() {
        assert_eq!(holds("t.x[1] != 0", "A{x:uint8[];}", &[1, 0, 0, 0, 7]), Ok(false));
        assert_eq!(holds("t.x != 0", "A{x:uint8?;}", &[0, 0, 0, 0]), Ok(false));
        assert_eq!(holds("t.x != 0", "A{x:uint8?;}", &[1, 0, 0, 0, 7]), Ok(true));
        assert_eq!(holds("t.v<1> > 0", "A{v:(uint8|int8);}", &[1, 0, 0, 0, 7]), Ok(true));
        assert!(holds("t.x == 0", "A{x:uint64;}", &[1]).is_err());
    }

    #[test]
    fn what_does_not_fit_the_type_is_said() {
        assert_eq!(
            holds("t.vlaue < 1", "A{value:uint8;}", &[1]),
            Err("A has no field 'vlaue': did you mean 'value'? it has: value".into())
        );
        assert_eq!(holds("t.x < low", "A{x:uint8;}", &[1]), Err("uint8 is compared with low".into()));
        assert_eq!(holds("t.x == 1", "A{x:B{y:uint8;};}", &[1]), Err("B is compared with 1".into()));
    }

    #[test]
    fn a_condition_is_about_the_topic_that_it_begins_with() {
        let condition: Condition = "/robot/state.mode == fault".parse().unwrap();
        assert!(condition.is_about("robot/state") && !condition.is_about("robot/stat") && !condition.is_about("robot"));
        assert!("t[3] > 1".parse::<Condition>().unwrap().is_about("t"));
    }
}
