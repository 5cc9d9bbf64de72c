//! Values from JSON and YAML.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{Value, ValueError};
use crate::signature::quoted;

impl Value {
    /// Reads JSON.
    pub fn from_json(text: &str) -> Result<Value, ValueError> {
        serde_json::from_str(text).map_err(|why| ValueError::new(format!("the JSON cannot be read: {why}")))
    }

    /// Reads YAML: one document.
    pub fn from_yaml(text: &str) -> Result<Value, ValueError> {
        serde_norway::from_str(text).map_err(|why| ValueError::new(format!("the YAML cannot be read: {why}")))
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
        from.deserialize_any(Any)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Integer(value.into()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(i128::try_from(value).map_or(Value::Real(value as f64), Value::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Real(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = from.next_element()? {
            values.push(value);
        }
        Ok(Value::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        let mut names = std::collections::HashSet::new();
        while let Some(name) = from.next_key::<String>()? {
            if !names.insert(name.clone()) {
                return Err(A::Error::custom(format_args!("{} is given twice", quoted(&name))));
            }
            values.push((name, from.next_value()?));
        }
        Ok(Value::Map(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(name: &str, value: Value) -> Value {
        Value::Map(vec![(name.to_owned(), value)])
    }

    #[test]
    fn json_and_yaml_are_read_as_the_same_values() {
        let value =
            map("a", Value::List(vec![Value::Null, Value::Bool(true), Value::Integer(-2), Value::Real(1.5), Value::Text("x".to_owned())]));
        assert_eq!(Value::from_json(r#"{"a": [null, true, -2, 1.5, "x"]}"#).unwrap(), value);
        assert_eq!(Value::from_yaml("a: [null, true, -2, 1.5, x]").unwrap(), value);
        assert_eq!(Value::from_yaml("a:\n- ~\n- true\n- -2\n- 1.5\n- 'x'").unwrap(), value);
    }

    #[test]
    fn large_whole_numbers_are_exact_and_floats_are_the_nearest() {
        for n in [i128::from(i64::MIN), i128::from(u64::MAX), i128::from(u64::MAX - 1)] {
            assert_eq!(Value::from_json(&n.to_string()), Ok(Value::Integer(n)));
            assert_eq!(Value::from_yaml(&n.to_string()), Ok(Value::Integer(n)));
        }
        assert_eq!(Value::from_yaml("18446744073709551616"), Ok(Value::Integer(1 << 64)));
        assert_eq!(Value::from_json("-0.3333333333333333148"), Ok(Value::Real(-1.0 / 3.0)));
        assert_eq!(Value::from_yaml("-.inf"), Ok(Value::Real(f64::NEG_INFINITY)));
    }

    #[test]
    fn names_in_yaml_are_texts_whatever_they_look_like() {
        assert_eq!(Value::from_yaml("on: 1"), Ok(map("on", Value::Integer(1))));
        assert_eq!(Value::from_yaml("true: 1"), Ok(map("true", Value::Integer(1))));
        assert_eq!(Value::from_yaml("7: 1"), Ok(map("7", Value::Integer(1))));
    }

    #[test]
    fn what_is_no_json_or_yaml_is_refused_with_the_place() {
        let json = |text| Value::from_json(text).unwrap_err().to_string();
        assert_eq!(json("{\"a\": 1,}"), "the JSON cannot be read: trailing comma at line 1 column 9");
        assert_eq!(json("{\"a\": 1, \"a\": 2}"), "the JSON cannot be read: 'a' is given twice at line 1 column 12");
        assert!(json("1e999").contains("out of range"));
        let yaml = |text| Value::from_yaml(text).unwrap_err().to_string();
        assert!(yaml("a: [1").starts_with("the YAML cannot be read: "));
        assert!(yaml("a: 1\na: 2").contains("'a' is given twice"));
        assert!(yaml("a: !point 1").starts_with("the YAML cannot be read: "));
    }

    #[test]
    fn texts_that_would_take_the_stack_or_the_memory_are_refused() {
        assert!(Value::from_json(&"[".repeat(100_000)).is_err());
        assert!(Value::from_yaml(&"[".repeat(10_000)).is_err());
        let bomb: String = (1..30).map(|n| format!("a{n}: &a{n} [*a{0}, *a{0}, *a{0}, *a{0}]\n", n - 1)).collect();
        assert!(Value::from_yaml(&format!("a0: &a0 [1]\n{bomb}")).is_err());
    }
}
