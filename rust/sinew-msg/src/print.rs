//! Messages as text: YAML for people, JSON and CSV for programs. Nothing is kept of a message but where it is read, whatever its size; of CSV the text of a cell.
//!
//! ```
//! use sinew_msg::{Type, print, stream::Reader};
//!
//! let scan: Type = "robot/Scan{frame_id:string;ranges:float32[];}".parse()?;
//! let stream = [&[0, 1, 0, 0, 2, 0, 0, 0, b'a', 0, 0, 0, 2, 0, 0, 0][..], &1.0_f32.to_le_bytes(), &f32::NAN.to_le_bytes()].concat();
//! let mut text = Vec::new();
//! print::yaml(&mut Reader::new(&[&stream])?, &scan, None, &mut text)?;
//! assert_eq!(String::from_utf8(text)?, "frame_id: a\nranges: [1.0, .nan]\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What strangers have written into strings does not control a terminal: control characters are escaped, and bytes that are not UTF-8 are shown as U+FFFD.

use std::fmt;
use std::io::{self, Write};

use crate::stream::{Malformed, Plain, Reader};
use crate::types::{Number, Type};

/// Why a message was not printed, or not to its end.
#[derive(Debug)]
pub enum PrintError {
    /// It is none of the type.
    Malformed(Malformed),
    /// It could not be written.
    Write(io::Error),
}

impl fmt::Display for PrintError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PrintError::Malformed(why) => why.fmt(to),
            PrintError::Write(why) => why.fmt(to),
        }
    }
}

impl std::error::Error for PrintError {}

impl From<Malformed> for PrintError {
    fn from(why: Malformed) -> PrintError {
        PrintError::Malformed(why)
    }
}

impl From<io::Error> for PrintError {
    fn from(why: io::Error) -> PrintError {
        PrintError::Write(why)
    }
}

type Printed = Result<(), PrintError>;

/// As YAML, each line at its end. Of vectors and arrays with more than `most` elements only so many are printed, and how many more there are; strings with more characters are cut off in the same way. A variant is a list of the
/// number of its alternative and the value.
pub fn yaml(reader: &mut Reader<'_>, ty: &Type, most: Option<u64>, to: &mut impl Write) -> Printed {
    Yaml { reader, most: most.unwrap_or(u64::MAX), to }.value(ty, 0, At::Begin)
}

/// As JSON, in one line without an end: numbers that JSON has not are the strings "NaN", "Infinity" and "-Infinity", an optional without a value is null, one that holds an optional is an array of that one, a variant is an array of the number of its alternative and the value.
pub fn json(reader: &mut Reader<'_>, ty: &Type, to: &mut impl Write) -> Printed {
    match ty {
        Type::Number(number) | Type::Enumeration { number, .. } => scalar(reader, *number, Notation::Json, to),
        Type::String => {
            let text = reader.text()?;
            Ok(quoted(&text, to)?)
        }
        Type::Vector(element) => {
            let count = reader.count(element)?;
            json_elements(reader, element, count, to)
        }
        Type::Array(element, length) => json_elements(reader, element, u64::from(*length), to),
        Type::Optional(value) => match (reader.has_value()?, &**value) {
            (false, _) => Ok(write!(to, "null")?),
            (true, Type::Optional(_)) => json_elements(reader, value, 1, to),
            (true, _) => json(reader, value, to),
        },
        Type::Structure(structure) => {
            let mut separator = "{";
            for field in &structure.fields {
                write!(to, "{separator}")?;
                quoted(&field.name, to)?;
                write!(to, ":")?;
                json(reader, &field.ty, to)?;
                separator = ",";
            }
            Ok(write!(to, "{}", if structure.fields.is_empty() { "{}" } else { "}" })?)
        }
        Type::Variant(alternatives) => {
            let chosen = reader.alternative(alternatives)?;
            write!(to, "[{},", place_of(chosen, alternatives))?;
            json(reader, chosen, to)?;
            Ok(write!(to, "]")?)
        }
    }
}

fn json_elements(reader: &mut Reader<'_>, element: &Type, count: u64, to: &mut impl Write) -> Printed {
    reader.visit(element, count)?;
    write!(to, "[")?;
    for n in 0..count {
        if n > 0 {
            write!(to, ",")?;
        }
        json(reader, element, to)?;
    }
    Ok(write!(to, "]")?)
}

/// The names of the columns of [`csv`], in one line without an end: structures have a column for each field, as `header.stamp_ns`, all else has one.
pub fn csv_head(ty: &Type, to: &mut impl Write) -> io::Result<()> {
    fn columns(ty: &Type, path: &str, to: &mut Vec<String>) {
        match ty {
            Type::Structure(structure) if !structure.fields.is_empty() => {
                for field in &structure.fields {
                    let inside = if path.is_empty() { field.name.clone() } else { format!("{path}.{}", field.name) };
                    columns(&field.ty, &inside, to);
                }
            }
            _ => to.push(if path.is_empty() { "value".to_owned() } else { path.to_owned() }),
        }
    }
    let mut names = Vec::new();
    columns(ty, "", &mut names);
    for (n, name) in names.iter().enumerate() {
        write!(to, "{}", if n == 0 { "" } else { "," })?;
        cell(name, to)?;
    }
    Ok(())
}

/// As a line of CSV (RFC 4180) without an end. A cell holds a number, a string, or the JSON of anything else; none is an empty one.
pub fn csv(reader: &mut Reader<'_>, ty: &Type, to: &mut impl Write) -> Printed {
    let mut is_first = true;
    csv_cells(reader, ty, &mut is_first, to)
}

fn csv_cells(reader: &mut Reader<'_>, ty: &Type, is_first: &mut bool, to: &mut impl Write) -> Printed {
    if let Type::Structure(structure) = ty
        && !structure.fields.is_empty()
    {
        return structure.fields.iter().try_for_each(|field| csv_cells(reader, &field.ty, is_first, to));
    }
    if !std::mem::replace(is_first, false) {
        write!(to, ",")?;
    }
    csv_cell(reader, ty, to)
}

fn csv_cell(reader: &mut Reader<'_>, ty: &Type, to: &mut impl Write) -> Printed {
    match ty {
        Type::Number(number) | Type::Enumeration { number, .. } => scalar(reader, *number, Notation::Plain, to),
        Type::String => {
            let text = reader.text()?;
            Ok(cell(&escaped(&text), to)?)
        }
        Type::Optional(value) if !matches!(**value, Type::Optional(_)) => {
            if !reader.has_value()? {
                return Ok(());
            }
            csv_cell(reader, value, to)
        }
        _ => {
            let mut text = Vec::new();
            json(reader, ty, &mut text)?;
            Ok(cell(&String::from_utf8_lossy(&text), to)?)
        }
    }
}

fn cell(text: &str, to: &mut impl Write) -> io::Result<()> {
    if text.contains(['"', ',', '\n', '\r']) { write!(to, "\"{}\"", text.replace('"', "\"\"")) } else { write!(to, "{text}") }
}

// --- parts -------------------------------------------------------------------------------------------------------------------------------

fn place_of(chosen: &Type, alternatives: &[Type]) -> usize {
    alternatives.iter().position(|alternative| std::ptr::eq(alternative, chosen)).unwrap_or(0)
}

/// How numbers are spelled that are none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Notation {
    Yaml,
    Json,
    Plain,
}

fn scalar(reader: &mut Reader<'_>, number: Number, notation: Notation, to: &mut impl Write) -> Printed {
    fn whole<T: Plain + fmt::Display>(reader: &mut Reader<'_>, to: &mut impl Write) -> Printed {
        Ok(write!(to, "{}", reader.number::<T>()?)?)
    }
    match number {
        Number::Bool => Ok(write!(to, "{}", reader.bool()?)?),
        Number::Int8 => whole::<i8>(reader, to),
        Number::Int16 => whole::<i16>(reader, to),
        Number::Int32 => whole::<i32>(reader, to),
        Number::Int64 => whole::<i64>(reader, to),
        Number::Uint8 => whole::<u8>(reader, to),
        Number::Uint16 => whole::<u16>(reader, to),
        Number::Uint32 => whole::<u32>(reader, to),
        Number::Uint64 => whole::<u64>(reader, to),
        Number::Float32 => {
            let real: f32 = reader.number()?;
            // Of its own: a float64 of that value has more digits.
            write_real(real.into(), format_args!("{real:?}"), notation, to)
        }
        Number::Float64 => {
            let real: f64 = reader.number()?;
            write_real(real, format_args!("{real:?}"), notation, to)
        }
    }
}

fn write_real(real: f64, digits: fmt::Arguments<'_>, notation: Notation, to: &mut impl Write) -> Printed {
    Ok(if real.is_finite() { to.write_fmt(digits) } else { to.write_all(no_number(real, notation).as_bytes()) }?)
}

fn no_number(real: f64, notation: Notation) -> &'static str {
    let [nan, infinite, negative] = match notation {
        Notation::Yaml => [".nan", ".inf", "-.inf"],
        Notation::Json => ["\"NaN\"", "\"Infinity\"", "\"-Infinity\""],
        Notation::Plain => ["nan", "inf", "-inf"],
    };
    if real.is_nan() {
        nan
    } else if real > 0.0 {
        infinite
    } else {
        negative
    }
}

/// With control characters as JSON and YAML escape them.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => safe += "\\n",
            '\t' => safe += "\\t",
            '\r' => safe += "\\r",
            _ if letter.is_control() => safe += &format!("\\u{:04x}", u32::from(letter)),
            _ => safe.push(letter),
        }
    }
    safe
}

fn quoted(text: &str, to: &mut impl Write) -> io::Result<()> {
    write!(to, "\"{}\"", escaped(&text.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// Whether YAML reads it as this string without quotes.
fn is_plain(text: &str) -> bool {
    let begins = text.starts_with(|letter: char| letter.is_alphabetic() || letter == '_' || letter == '/');
    let is_usual = |letter: char| letter.is_alphanumeric() || "_-./ ".contains(letter);
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    begins && !text.ends_with(' ') && text.chars().all(is_usual) && !words.contains(&text.to_lowercase().as_str())
}

// --- YAML --------------------------------------------------------------------------------------------------------------------------------

/// What stands before a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// Nothing.
    Begin,
    /// `key:`
    Key,
    /// `- `
    Dash,
}

struct Yaml<'r, 's, W> {
    reader: &'r mut Reader<'s>,
    most: u64,
    to: &'r mut W,
}

impl<W: Write> Yaml<'_, '_, W> {
    fn value(&mut self, ty: &Type, indent: usize, at: At) -> Printed {
        match ty {
            Type::Number(_) | Type::Enumeration { .. } | Type::String => {
                self.gap(at)?;
                self.scalar(ty)?;
                Ok(writeln!(self.to)?)
            }
            Type::Optional(value) => match (self.reader.has_value()?, &**value) {
                (false, _) => {
                    self.gap(at)?;
                    Ok(writeln!(self.to, "null")?)
                }
                (true, Type::Optional(_)) => self.elements(value, 1, indent, at),
                (true, _) => self.value(value, indent, at),
            },
            Type::Structure(structure) if structure.fields.is_empty() => {
                self.gap(at)?;
                Ok(writeln!(self.to, "{{}}")?)
            }
            Type::Structure(structure) => {
                self.begin_block(at)?;
                for (n, field) in structure.fields.iter().enumerate() {
                    self.indent(indent, at, n == 0)?;
                    write!(self.to, "{}:", field.name)?;
                    self.value(&field.ty, indent + 2, At::Key)?;
                }
                Ok(())
            }
            Type::Vector(element) => {
                let count = self.reader.count(element)?;
                self.elements(element, count, indent, at)
            }
            Type::Array(element, length) => self.elements(element, u64::from(*length), indent, at),
            Type::Variant(alternatives) => {
                let chosen = self.reader.alternative(alternatives)?;
                self.begin_block(at)?;
                self.indent(indent, at, true)?;
                writeln!(self.to, "- {}", place_of(chosen, alternatives))?;
                self.indent(indent, at, false)?;
                write!(self.to, "- ")?;
                self.value(chosen, indent + 2, At::Dash)
            }
        }
    }

    fn gap(&mut self, at: At) -> io::Result<()> {
        if at == At::Key { write!(self.to, " ") } else { Ok(()) }
    }

    fn begin_block(&mut self, at: At) -> io::Result<()> {
        if at == At::Key { writeln!(self.to) } else { Ok(()) }
    }

    /// What a dash stands before begins in its line.
    fn indent(&mut self, indent: usize, at: At, is_first: bool) -> io::Result<()> {
        if is_first && at == At::Dash { Ok(()) } else { write!(self.to, "{:indent$}", "") }
    }

    fn scalar(&mut self, ty: &Type) -> Printed {
        match ty {
            Type::Number(number) | Type::Enumeration { number, .. } => scalar(self.reader, *number, Notation::Yaml, self.to),
            _ => self.string(),
        }
    }

    fn string(&mut self) -> Printed {
        let text = self.reader.text()?;
        if let Some((cut, _)) = usize::try_from(self.most).ok().and_then(|most| text.char_indices().nth(most)) {
            let left = text[cut..].chars().count();
            return Ok(quoted(&format!("{}... {left} more", &text[..cut]), self.to)?);
        }
        Ok(if is_plain(&text) { write!(self.to, "{text}") } else { quoted(&text, self.to) }?)
    }

    fn elements(&mut self, element: &Type, count: u64, indent: usize, at: At) -> Printed {
        let shown = count.min(self.most);
        self.reader.visit(element, shown)?;
        let is_flat = matches!(element, Type::Number(_) | Type::Enumeration { .. } | Type::String);
        if is_flat || count == 0 {
            self.gap(at)?;
            write!(self.to, "[")?;
            for n in 0..shown {
                write!(self.to, "{}", if n > 0 { ", " } else { "" })?;
                self.scalar(element)?;
            }
            if shown < count {
                write!(self.to, "{}'... {} more'", if shown > 0 { ", " } else { "" }, count - shown)?;
            }
            writeln!(self.to, "]")?;
        } else {
            self.begin_block(at)?;
            for n in 0..shown {
                self.indent(indent, at, n == 0)?;
                write!(self.to, "- ")?;
                self.value(element, indent + 2, At::Dash)?;
            }
            if shown < count {
                self.indent(indent, at, shown == 0)?;
                writeln!(self.to, "- '... {} more'", count - shown)?;
            }
        }
        Ok(self.reader.skip_values(element, count - shown)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As printed in YAML, JSON, and CSV.
    fn printed(signature: &str, body: &[u8], most: Option<u64>) -> [String; 3] {
        let ty: Type = signature.parse().unwrap();
        let stream = [&[0, 1, 0, 0], body].concat();
        let reader = || Reader::new(&[&stream]).unwrap();
        let mut texts = [Vec::new(), Vec::new(), Vec::new()];
        yaml(&mut reader(), &ty, most, &mut texts[0]).unwrap();
        json(&mut reader(), &ty, &mut texts[1]).unwrap();
        csv(&mut reader(), &ty, &mut texts[2]).unwrap();
        texts.map(|text| String::from_utf8(text).unwrap())
    }

    fn string(text: &[u8]) -> Vec<u8> {
        [&(text.len() as u32 + 1).to_le_bytes()[..], text, &[0]].concat()
    }

    #[test]
    fn structures_and_lists_of_them_are_blocks() {
        let body = [2, 0, 0, 0, 1, 2, 3, 4, 9];
        let [yaml, json, csv] = printed("A{points:P{x:uint8;y:uint8;}[];last:uint8;}", &body, None);
        assert_eq!(yaml, "points:\n  - x: 1\n    y: 2\n  - x: 3\n    y: 4\nlast: 9\n");
        assert_eq!(json, r#"{"points":[{"x":1,"y":2},{"x":3,"y":4}],"last":9}"#);
        assert_eq!(csv, r#""[{""x"":1,""y"":2},{""x"":3,""y"":4}]",9"#);
    }

    #[test]
    fn structures_in_structures_are_columns_of_their_own() {
        let ty: Type = "A{header:H{stamp_ns:uint64;frame_id:string;};data:uint8[];}".parse().unwrap();
        let mut head = Vec::new();
        csv_head(&ty, &mut head).unwrap();
        assert_eq!(head, b"header.stamp_ns,header.frame_id,data");
    }

    #[test]
    fn what_is_long_is_cut_off_for_people_and_what_follows_is_right() {
        let body = [&[5, 0, 0, 0, 1, 2, 3, 4, 5, 0, 0, 0][..], &string(b"abcdef"), &[7]].concat();
        let [yaml, json, _] = printed("A{data:uint8[];text:string;last:uint8;}", &body, Some(2));
        assert_eq!(yaml, "data: [1, 2, '... 3 more']\ntext: \"ab... 4 more\"\nlast: 7\n");
        assert_eq!(json, r#"{"data":[1,2,3,4,5],"text":"abcdef","last":7}"#);
        let [yaml, ..] = printed("A{a:B{x:uint8;}[];last:uint8;}", &[3, 0, 0, 0, 1, 2, 3, 9], Some(1));
        assert_eq!(yaml, "a:\n  - x: 1\n  - '... 2 more'\nlast: 9\n");
    }

    #[test]
    fn strings_do_not_control_the_terminal_and_are_read_as_strings() {
        for (text, yaml, json) in [
            (&b"camera_1/left"[..], "camera_1/left", r#""camera_1/left""#),
            (b"", r#""""#, r#""""#),
            (b"true", r#""true""#, r#""true""#),
            (b"12", r#""12""#, r#""12""#),
            (b"a: b", r#""a: b""#, r#""a: b""#),
            (b"\x1b[2J\n\x07", r#""\u001b[2J\n\u0007""#, r#""\u001b[2J\n\u0007""#),
            ("\u{9b}1m".as_bytes(), r#""\u009b1m""#, r#""\u009b1m""#),
            (br#"say "\hi\""#, r#""say \"\\hi\\\"""#, r#""say \"\\hi\\\"""#),
            (b"\xff", "\"\u{fffd}\"", "\"\u{fffd}\""),
        ] {
            let printed = printed("string", &string(text), None);
            assert_eq!((printed[0].trim_end(), printed[1].as_str()), (yaml, json), "{text:?}");
            assert!(!printed[2].contains(char::is_control), "{text:?}");
        }
    }

    #[test]
    fn numbers_have_the_digits_that_they_are_and_names_when_they_are_none() {
        assert_eq!(printed("float32", &0.1_f32.to_le_bytes(), None), ["0.1\n", "0.1", "0.1"]);
        assert_eq!(printed("float64", &f64::NEG_INFINITY.to_le_bytes(), None), ["-.inf\n", "\"-Infinity\"", "-inf"]);
        assert_eq!(printed("float32", &f32::NAN.to_le_bytes(), None), [".nan\n", "\"NaN\"", "nan"]);
        assert_eq!(printed("uint64", &u64::MAX.to_le_bytes(), None)[1], "18446744073709551615");
    }

    #[test]
    fn optionals_and_variants_say_what_is_there() {
        let [yaml, json, csv] =
            printed("A{none:uint8?;some:uint8?;one:(uint8|B{x:uint8;});}", &[0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 6], None);
        assert_eq!(yaml, "none: null\nsome: 5\none:\n  - 1\n  - x: 6\n");
        assert_eq!(json, r#"{"none":null,"some":5,"one":[1,{"x":6}]}"#);
        assert_eq!(csv, r#",5,"[1,{""x"":6}]""#);
    }

    #[test]
    fn an_optional_in_an_optional_differs_from_none_and_one_of_a_structure_stays_in_its_cell() {
        assert_eq!(printed("uint8??", &[0; 4], None), ["null\n", "null", "null"]);
        assert_eq!(printed("uint8??", &[1, 0, 0, 0, 0, 0, 0, 0], None), ["- null\n", "[null]", "[null]"]);
        let [_, _, csv] = printed("A{some:B{x:uint8;y:uint8;}?;last:uint8;}", &[1, 0, 0, 0, 5, 6, 7], None);
        assert_eq!(csv, r#""{""x"":5,""y"":6}",7"#);
    }

    #[test]
    fn elements_that_take_nothing_do_not_make_a_text_without_end() {
        let stream = [[0, 1, 0, 0], [3, 0, 0, 0], [0, 0, 8, 0], [0, 0, 8, 0], [0, 0, 8, 0]].concat(); // 3 times 524288
        let reader = || Reader::new(&[&stream]).unwrap();
        let vectors: Type = "A{}[][]".parse().unwrap();
        assert!(json(&mut reader(), &vectors, &mut io::sink()).is_err());
        assert!(yaml(&mut reader(), &vectors, None, &mut io::sink()).is_err());
        assert!(yaml(&mut reader(), &vectors, Some(128), &mut io::sink()).is_ok());
        assert!(json(&mut reader(), &"A{}[4294967295]".parse().unwrap(), &mut io::sink()).is_err());
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        let ty: Type = "A{data:uint8[];}".parse().unwrap();
        let stream = [0, 1, 0, 0, 9, 0, 0, 0, 1];
        let mut reader = Reader::new(&[&stream]).unwrap();
        assert!(matches!(yaml(&mut reader, &ty, None, &mut io::sink()), Err(PrintError::Malformed(_))));
    }
}
