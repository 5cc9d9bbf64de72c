//! Values as CDR streams (spec/cdr.md), the least significant byte first.

use super::{Value, ValueError};
use crate::names::unknown_field;
use crate::signature::quoted;
use crate::types::{Number, Structure, Type};

/// Bytes of a stream: what an object may have (T1.12).
const MOST_BYTES: u64 = 1 << 32;

type Written = Result<(), ValueError>;

impl Value {
    /// Writes it as the stream of a message of this type.
    pub fn to_stream(&self, ty: &Type) -> Result<Vec<u8>, ValueError> {
        let mut writer = Writer { stream: vec![0, 1, 0, 0] };
        writer.value(ty, self)?;
        Ok(writer.stream)
    }
}

struct Writer {
    stream: Vec<u8>,
}

impl Writer {
    fn value(&mut self, ty: &Type, given: &Value) -> Written {
        match (ty, given) {
            (Type::Number(number) | Type::Enumeration { number, .. }, _) => self.number(*number, ty, given),
            (Type::String, Value::Text(text)) => self.string(text),
            (Type::Vector(element), Value::List(values)) => {
                self.count(values.len())?;
                self.values(element, values)
            }
            (Type::Array(element, length), Value::List(values)) if values.len() as u64 == u64::from(*length) => {
                self.values(element, values)
            }
            (Type::Optional(_), Value::Null) => self.count(0),
            (Type::Optional(value), _) => {
                self.count(1)?;
                self.held(value, given)
            }
            (Type::Structure(structure), Value::Map(values)) => self.structure(structure, values),
            (Type::Variant(alternatives), Value::List(values)) => self.variant(alternatives, ty, values, given),
            _ => Err(refused(ty, given)),
        }
    }

    /// What an optional holds.
    fn held(&mut self, ty: &Type, given: &Value) -> Written {
        match (ty, given) {
            (Type::Optional(_), Value::List(values)) if values.len() == 1 => self.value(ty, &values[0]),
            (Type::Optional(_), _) => Err(given_and_expected(given, &format!("{}? (null, or a list of one)", ty.name()))),
            _ => self.value(ty, given),
        }
    }

    fn values(&mut self, element: &Type, values: &[Value]) -> Written {
        let mut values = values.iter().enumerate();
        values.try_for_each(|(n, value)| self.value(element, value).map_err(|why| why.inside(&format!("[{n}]"))))
    }

    fn structure(&mut self, structure: &Structure, values: &[(String, Value)]) -> Written {
        for (n, (name, _)) in values.iter().enumerate() {
            if structure.field(name).is_none() {
                return Err(ValueError::new(unknown_field(structure, name)));
            }
            if values[..n].iter().any(|(other, _)| other == name) {
                return Err(ValueError::new(format!("{} is given twice", quoted(name))));
            }
        }
        structure.fields.iter().try_for_each(|field| {
            let written = match values.iter().find(|(name, _)| *name == field.name) {
                Some((_, value)) => self.value(&field.ty, value),
                None => self.left_out(&field.ty),
            };
            written.map_err(|why| why.inside(&field.name))
        })
    }

    fn variant(&mut self, alternatives: &[Type], ty: &Type, values: &[Value], given: &Value) -> Written {
        let [Value::Integer(chosen), value] = values else { return Err(refused(ty, given)) };
        let found = usize::try_from(*chosen).ok().and_then(|chosen| alternatives.get(chosen));
        let Some(alternative) = found else { return Err(refused(ty, &values[0])) };
        self.count(*chosen as usize)?; // a place in alternatives
        self.value(alternative, value).map_err(|why| why.inside(&format!("<{chosen}>")))
    }

    fn number(&mut self, number: Number, ty: &Type, given: &Value) -> Written {
        match number {
            Number::Bool => match given {
                Value::Bool(value) => self.put([u8::from(*value)]),
                _ => return Err(refused(ty, given)),
            },
            Number::Int8 => self.put(whole::<i8>(ty, given)?.to_le_bytes()),
            Number::Int16 => self.put(whole::<i16>(ty, given)?.to_le_bytes()),
            Number::Int32 => self.put(whole::<i32>(ty, given)?.to_le_bytes()),
            Number::Int64 => self.put(whole::<i64>(ty, given)?.to_le_bytes()),
            Number::Uint8 => self.put(whole::<u8>(ty, given)?.to_le_bytes()),
            Number::Uint16 => self.put(whole::<u16>(ty, given)?.to_le_bytes()),
            Number::Uint32 => self.put(whole::<u32>(ty, given)?.to_le_bytes()),
            Number::Uint64 => self.put(whole::<u64>(ty, given)?.to_le_bytes()),
            Number::Float32 => self.put(short(ty, given)?.to_le_bytes()),
            Number::Float64 => self.put(real(ty, given)?.to_le_bytes()),
        }
        Ok(())
    }

    fn string(&mut self, text: &str) -> Written {
        self.count(text.len() + 1)?;
        self.stream.extend_from_slice(text.as_bytes());
        self.stream.push(0);
        Ok(())
    }

    /// What nobody has given.
    fn left_out(&mut self, ty: &Type) -> Written {
        match ty {
            Type::Number(number) | Type::Enumeration { number, .. } => self.zeros(*number, 1),
            Type::String => self.string(""),
            Type::Vector(_) | Type::Optional(_) => self.count(0),
            Type::Array(element, length) => self.array_left_out(element, *length),
            Type::Structure(structure) => {
                structure.fields.iter().try_for_each(|field| self.left_out(&field.ty).map_err(|why| why.inside(&field.name)))
            }
            Type::Variant(alternatives) => {
                self.count(0)?;
                alternatives.first().map_or(Ok(()), |first| self.left_out(first))
            }
        }
    }

    /// Its length may come from a stranger's signature: no memory is taken for what no message is.
    fn array_left_out(&mut self, element: &Type, length: u32) -> Written {
        let size = element.fewest_bytes().saturating_mul(u64::from(length));
        if size.saturating_add(self.stream.len() as u64) > MOST_BYTES {
            return Err(ValueError::new(format!("it takes {size} bytes, and a message has no more than {MOST_BYTES}")));
        }
        match element {
            Type::Number(number) | Type::Enumeration { number, .. } if length > 0 => self.zeros(*number, length as usize),
            _ if size == 0 => Ok(()),
            _ => (0..length).try_for_each(|_| self.left_out(element)),
        }
    }

    fn zeros(&mut self, number: Number, count: usize) -> Written {
        self.align(number.size());
        self.stream.resize(self.stream.len() + count * number.size(), 0);
        Ok(())
    }

    /// Before a string, vector, optional or variant.
    fn count(&mut self, count: usize) -> Written {
        let count = u32::try_from(count).map_err(|_| ValueError::new(format!("it has {count} elements, which no stream has (C2.9)")))?;
        self.put(count.to_le_bytes());
        Ok(())
    }

    fn put<const SIZE: usize>(&mut self, bytes: [u8; SIZE]) {
        self.align(SIZE);
        self.stream.extend_from_slice(&bytes);
    }

    /// Counted from the body, as C1.3 says.
    fn align(&mut self, to: usize) {
        let end = (self.stream.len() - 4).next_multiple_of(to) + 4;
        self.stream.resize(end, 0);
    }
}

fn whole<T: TryFrom<i128>>(ty: &Type, given: &Value) -> Result<T, ValueError> {
    let Value::Integer(value) = given else { return Err(refused(ty, given)) };
    T::try_from(*value).map_err(|_| refused(ty, given))
}

fn real(ty: &Type, given: &Value) -> Result<f64, ValueError> {
    match given {
        Value::Real(value) => Ok(*value),
        Value::Integer(value) => Ok(*value as f64),
        Value::Text(text) => match text.as_str() {
            "NaN" => Ok(f64::NAN),
            "Infinity" => Ok(f64::INFINITY),
            "-Infinity" => Ok(f64::NEG_INFINITY),
            _ => Err(refused(ty, given)),
        },
        _ => Err(refused(ty, given)),
    }
}

fn short(ty: &Type, given: &Value) -> Result<f32, ValueError> {
    let value = real(ty, given)?;
    if value.is_finite() && (value as f32).is_infinite() {
        return Err(refused(ty, given));
    }
    Ok(value as f32)
}

fn refused(ty: &Type, given: &Value) -> ValueError {
    given_and_expected(given, &expected(ty))
}

fn given_and_expected(given: &Value, expected: &str) -> ValueError {
    ValueError::new(format!("{given} is given, and {expected} is expected"))
}

fn expected(ty: &Type) -> String {
    let name = ty.name();
    match ty {
        Type::Number(number) | Type::Enumeration { number, .. } => format!("{name} ({})", range(*number)),
        Type::String => name,
        Type::Vector(_) => format!("{name} (a list)"),
        Type::Array(_, length) => format!("{name} (a list of {length})"),
        Type::Optional(value) => format!("{} or null", expected(value)),
        Type::Structure(_) => format!("{name} (a mapping of its fields)"),
        Type::Variant(alternatives) => {
            format!("{name} (a list of a number from 0 to {} and its value)", alternatives.len().saturating_sub(1))
        }
    }
}

fn range(number: Number) -> String {
    let bits = 8 * number.size();
    match number {
        Number::Bool => "true or false".to_owned(),
        Number::Float32 => format!("a number from {:?} to {:?}", f32::MIN, f32::MAX),
        Number::Float64 => "a number".to_owned(),
        Number::Int8 | Number::Int16 | Number::Int32 | Number::Int64 => {
            format!("{} to {}", -(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        }
        Number::Uint8 | Number::Uint16 | Number::Uint32 | Number::Uint64 => format!("0 to {}", (1i128 << bits) - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body of the stream.
    fn written(signature: &str, json: &str) -> Result<Vec<u8>, String> {
        let stream = Value::from_json(json).unwrap().to_stream(&signature.parse().unwrap()).map_err(|why| why.to_string())?;
        assert_eq!(stream[..4], [0, 1, 0, 0]);
        Ok(stream[4..].to_vec())
    }

    fn complaint(signature: &str, json: &str) -> String {
        written(signature, json).unwrap_err()
    }

    #[test]
    fn fields_that_are_left_out_are_zero_empty_none_or_the_first_alternative() {
        let everything = "A{n:uint8;s:string;v:uint64[];a:uint16[2];o:string?;f:B{x:int8;};e:(uint8|string);c:Color(int16);w:string[2];}";
        let body = written(everything, "{}").unwrap();
        let zeros = [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(body, [&zeros[..], &[1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]].concat());
        assert_eq!(written("A{a:uint8;v:uint64[0];b:uint8;n:N{}[3];}", r#"{"b": 2}"#), Ok(vec![0, 2]), "nothing is aligned for nothing");
    }

    #[test]
    fn fields_may_be_given_in_any_order() {
        assert_eq!(written("A{x:uint8;y:uint8;}", r#"{"y": 2, "x": 1}"#), Ok(vec![1, 2]));
    }

    #[test]
    fn an_unknown_field_is_refused_with_those_that_there_are() {
        assert_eq!(
            complaint("Image{height:uint32;width:uint32;}", r#"{"widht": 1}"#),
            "Image has no field 'widht': did you mean 'width'? it has: height, width"
        );
        assert_eq!(complaint("A{list:B{x:uint8;}[];}", r#"{"list": [{}, {"y": 1}]}"#), "field 'list[1]': B has no field 'y': it has: x");
        let twice = Value::Map(vec![("x".to_owned(), Value::Integer(1)), ("x".to_owned(), Value::Integer(2))]);
        assert_eq!(twice.to_stream(&"A{x:uint8;}".parse().unwrap()).unwrap_err().to_string(), "'x' is given twice");
    }

    #[test]
    fn numbers_out_of_range_are_refused_with_the_range() {
        assert_eq!(complaint("A{b:B{x:int8;};}", r#"{"b": {"x": 128}}"#), "field 'b.x': 128 is given, and int8 (-128 to 127) is expected");
        assert_eq!(complaint("uint64", "-1"), "-1 is given, and uint64 (0 to 18446744073709551615) is expected");
        assert_eq!(complaint("Color(uint8)", "256"), "256 is given, and Color (0 to 255) is expected");
        assert_eq!(complaint("float32", "1e39"), "1e39 is given, and float32 (a number from -3.4028235e38 to 3.4028235e38) is expected");
        assert_eq!(written("uint64", "18446744073709551615"), Ok(vec![255; 8]));
        assert_eq!(written("int64", "-9223372036854775808"), Ok(i64::MIN.to_le_bytes().to_vec()));
    }

    #[test]
    fn values_of_another_kind_are_refused_with_what_is_expected() {
        assert_eq!(complaint("uint8", "1.0"), "1.0 is given, and uint8 (0 to 255) is expected");
        assert_eq!(complaint("bool", "1"), "1 is given, and bool (true or false) is expected");
        assert_eq!(complaint("float64", r#""nan""#), "'nan' is given, and float64 (a number) is expected");
        assert_eq!(complaint("string", "null"), "null is given, and string is expected");
        assert_eq!(complaint("A{x:uint8[];}", r#"{"x": "abc"}"#), "field 'x': 'abc' is given, and uint8[] (a list) is expected");
        assert_eq!(complaint("uint8[3]", "[1, 2]"), "a list of 2 is given, and uint8[3] (a list of 3) is expected");
        assert_eq!(complaint("A{}", "[]"), "a list of 0 is given, and A (a mapping of its fields) is expected");
        assert_eq!(complaint("string?", "{}"), "a mapping is given, and string is expected");
        assert_eq!(complaint("string", "{\"\\u001b\": 1}"), "a mapping is given, and string is expected");
    }

    #[test]
    fn a_variant_is_the_number_of_its_alternative_and_the_value() {
        assert_eq!(written("(uint8|string)", "[0, 7]"), Ok(vec![0, 0, 0, 0, 7]));
        assert_eq!(
            complaint("(uint8|string)", "7"),
            "7 is given, and (uint8|string) (a list of a number from 0 to 1 and its value) is expected"
        );
        assert_eq!(
            complaint("(uint8|string)", "[2, 7]"),
            "2 is given, and (uint8|string) (a list of a number from 0 to 1 and its value) is expected"
        );
        assert_eq!(
            complaint("A{v:(uint8|B{x:bool;});}", r#"{"v": [1, {"x": 7}]}"#),
            "field 'v<1>.x': 7 is given, and bool (true or false) is expected"
        );
    }

    #[test]
    fn an_optional_in_an_optional_is_null_or_a_list_of_one() {
        assert_eq!(written("uint8??", "null"), Ok(vec![0; 4]));
        assert_eq!(written("uint8??", "[null]"), Ok(vec![1, 0, 0, 0, 0, 0, 0, 0]));
        assert_eq!(written("uint8??", "[7]"), Ok(vec![1, 0, 0, 0, 1, 0, 0, 0, 7]));
        assert_eq!(complaint("uint8??", "7"), "7 is given, and uint8?? (null, or a list of one) is expected");
    }

    #[test]
    fn a_whole_number_is_a_float_too_and_names_stand_for_what_is_no_number() {
        assert_eq!(written("float32[2]", r#"[1, "-Infinity"]"#), Ok([1.0f32, f32::NEG_INFINITY].map(f32::to_le_bytes).concat()));
        assert_eq!(written("float64", r#""NaN""#), Ok(f64::NAN.to_le_bytes().to_vec()));
    }

    #[test]
    fn no_memory_is_taken_for_arrays_that_no_message_has() {
        assert_eq!(
            complaint("A{x:uint64[4294967295][4294967295];}", "{}"),
            "field 'x': it takes 18446744073709551615 bytes, and a message has no more than 4294967296"
        );
        assert!(written("A{x:(uint8[4294967295][2]|bool);}", "{}").is_err());
        assert_eq!(written("A{x:N{}[4294967295][4294967295];}", "{}"), Ok(vec![]));
    }
}
