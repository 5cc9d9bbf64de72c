//! Reading IDL: what [`of`](super::of) writes, and what ROS 2 makes of its definitions. It comes from strangers.

use std::collections::HashMap;
use std::rc::Rc;

use super::tokens::{Token, Tokens};
use super::{MAX_WORD, SchemaError};
use crate::signature::quoted;
use crate::types::{MAX_DEPTH, Number};

/// Modules inside of one another, and words of a name with those of its modules.
const MAX_MODULES: usize = 16;

/// Where something is defined: the place of its module.
pub(super) type Scope = usize;

/// What a member is, as it is written. What no message of sinew can have is refused where it is needed only.
pub(super) enum Spec<'a> {
    Number(Number),
    String,
    Sequence(Rc<Spec<'a>>),
    Array(Rc<Spec<'a>>, Count<'a>),
    /// `a::b::C`, as seen from where it stands.
    Named(Vec<&'a str>),
    Refused(&'static str),
}

/// How many elements.
#[derive(Clone, Copy)]
pub(super) enum Count<'a> {
    Number(u64),
    Constant(&'a str),
}

pub(super) struct Member<'a> {
    pub(super) name: &'a str,
    /// Shared by all that are declared together.
    pub(super) spec: Rc<Spec<'a>>,
    /// Of an alternative: for which number of the union.
    pub(super) label: Option<Count<'a>>,
}

pub(super) enum Definition<'a> {
    Structure(Vec<Member<'a>>),
    Union(Vec<Member<'a>>),
    Enumeration(Number),
    Other(Rc<Spec<'a>>),
}

impl Definition<'_> {
    fn refused(why: &'static str) -> Self {
        Definition::Other(Rc::new(Spec::Refused(why)))
    }
}

/// All that a text defines.
#[derive(Default)]
pub(super) struct Definitions<'a> {
    /// The module around each, and its name; of the first, around all, none.
    pub(super) scopes: Vec<(Scope, &'a str)>,
    pub(super) modules: HashMap<(Scope, &'a str), Scope>,
    pub(super) types: HashMap<(Scope, &'a str), Definition<'a>>,
    pub(super) constants: HashMap<(Scope, &'a str), u64>,
}

pub(super) fn read(text: &str) -> Result<Definitions<'_>, SchemaError> {
    let mut reader = Reader { tokens: Tokens::new(text), read: Definitions { scopes: vec![(0, "")], ..Definitions::default() } };
    reader.definitions(0, 1)?;
    match reader.tokens.peek() {
        None => Ok(reader.read),
        Some(_) => Err(reader.unexpected("the end")),
    }
}

/// What stands before a definition or a member with an `@`.
#[derive(Default)]
struct Annotations {
    /// Why it has another form in streams than sinew reads.
    refused: Option<&'static str>,
    bits: Option<u64>,
}

struct Reader<'a> {
    tokens: Tokens<'a>,
    read: Definitions<'a>,
}

type Read<T> = Result<T, SchemaError>;

impl<'a> Reader<'a> {
    fn definitions(&mut self, scope: Scope, depth: usize) -> Read<()> {
        if depth > MAX_MODULES {
            return Err(SchemaError(format!("the IDL has modules that are nested more than {MAX_MODULES} deep")));
        }
        loop {
            let annotations = self.annotations()?;
            match self.tokens.peek() {
                None | Some(Token::Sign('}')) => return Ok(()),
                Some(Token::Sign(';')) => drop(self.tokens.take()),
                Some(Token::Word(keyword)) => {
                    self.tokens.take();
                    self.definition(keyword, scope, &annotations, depth)?;
                    self.expect(';')?;
                }
                Some(_) => return Err(self.unexpected("a definition")),
            }
        }
    }

    fn definition(&mut self, keyword: &str, scope: Scope, annotations: &Annotations, depth: usize) -> Read<()> {
        match keyword {
            "module" => {
                let name = self.name()?;
                let new = self.read.scopes.len();
                let inner = *self.read.modules.entry((scope, name)).or_insert(new);
                if inner == new {
                    self.read.scopes.push((scope, name));
                }
                self.expect('{')?;
                self.definitions(inner, depth + 1)?;
                self.expect('}')
            }
            "struct" => {
                let name = self.name()?;
                if self.tokens.peek() == Some(Token::Sign(';')) {
                    return Ok(()); // Said in advance.
                }
                if self.tokens.takes(Token::Sign(':')) {
                    self.scoped_name()?;
                    self.members()?;
                    self.define(scope, name, Definition::refused("which has a base"));
                    return Ok(());
                }
                let members = self.members()?;
                let refused = annotations.refused.map(Definition::refused);
                self.define(scope, name, refused.unwrap_or(Definition::Structure(members)));
                Ok(())
            }
            "union" => self.union(scope, annotations),
            "enum" => {
                let name = self.name()?;
                self.expect('{')?;
                while !self.tokens.takes(Token::Sign('}')) {
                    self.annotations()?;
                    self.name()?;
                    self.tokens.takes(Token::Sign(','));
                }
                let number = match annotations.bits {
                    None | Some(17..=32) => Definition::Enumeration(Number::Int32),
                    Some(1..=8) => Definition::Enumeration(Number::Uint8),
                    Some(9..=16) => Definition::Enumeration(Number::Uint16),
                    Some(_) => Definition::refused("which is an enumeration of another size than any"),
                };
                self.define(scope, name, number);
                Ok(())
            }
            "typedef" => {
                let mut named = Vec::new();
                self.declared(None, &mut named)?;
                for Member { name, spec, .. } in named {
                    self.define(scope, name, Definition::Other(spec));
                }
                Ok(())
            }
            "const" => {
                self.spec(1)?;
                let name = self.name()?;
                self.expect('=')?;
                let first = self.tokens.take();
                if let Some(Token::Digits(digits)) = first
                    && let Ok(number) = digits.parse()
                    && self.tokens.peek() == Some(Token::Sign(';'))
                {
                    self.read.constants.entry((scope, name)).or_insert(number);
                }
                while self.tokens.peek().is_some_and(|token| token != Token::Sign(';')) {
                    self.tokens.take();
                }
                Ok(())
            }
            _ => Err(SchemaError(format!("the IDL has a definition that begins with {}, which sinew does not know", quoted(keyword)))),
        }
    }

    fn define(&mut self, scope: Scope, name: &'a str, definition: Definition<'a>) {
        self.read.types.entry((scope, name)).or_insert(definition);
    }

    fn members(&mut self) -> Read<Vec<Member<'a>>> {
        self.expect('{')?;
        let mut members = Vec::new();
        while !self.tokens.takes(Token::Sign('}')) {
            self.declared(None, &mut members)?;
            self.expect(';')?;
        }
        Ok(members)
    }

    fn union(&mut self, scope: Scope, annotations: &Annotations) -> Read<()> {
        let name = self.name()?;
        self.keyword("switch")?;
        self.expect('(')?;
        let discriminator = self.spec(1)?;
        self.expect(')')?;
        self.expect('{')?;
        let mut members = Vec::new();
        let mut refused = annotations.refused;
        while !self.tokens.takes(Token::Sign('}')) {
            let mut label = None;
            while let Some(Token::Word(word @ ("case" | "default"))) = self.tokens.peek() {
                self.tokens.take();
                if word == "default" {
                    refused = refused.or(Some("which has a default"));
                } else if label.replace(self.count()?).is_some() {
                    refused = refused.or(Some("which has two numbers for the same alternative"));
                }
                self.expect(':')?;
            }
            self.declared(label, &mut members)?;
            self.expect(';')?;
        }
        if !matches!(discriminator, Spec::Number(Number::Uint32 | Number::Int32)) {
            refused = refused.or(Some("whose alternatives are told apart by something else than an integer of 32 bits"));
        }
        self.define(scope, name, refused.map_or(Definition::Union(members), Definition::refused));
        Ok(())
    }

    /// A type and the names of what is of it.
    fn declared(&mut self, label: Option<Count<'a>>, members: &mut Vec<Member<'a>>) -> Read<()> {
        let annotations = self.annotations()?;
        let spec = self.spec(1)?;
        let spec = Rc::new(annotations.refused.map_or(spec, Spec::Refused));
        loop {
            let name = self.name()?;
            let mut lengths = Vec::new();
            while self.tokens.takes(Token::Sign('[')) {
                lengths.push(self.count()?);
                self.expect(']')?;
                if lengths.len() > MAX_DEPTH {
                    return Err(SchemaError(format!("the IDL has an array {} of more than {MAX_DEPTH} dimensions", quoted(name))));
                }
            }
            let around = |inner, length: &Count<'a>| Rc::new(Spec::Array(inner, *length));
            members.push(Member { name, spec: lengths.iter().rev().fold(spec.clone(), around), label });
            if !self.tokens.takes(Token::Sign(',')) {
                return Ok(());
            }
        }
    }

    fn spec(&mut self, depth: usize) -> Read<Spec<'a>> {
        if depth > MAX_DEPTH {
            return Err(SchemaError(format!("the IDL has sequences that are nested more than {MAX_DEPTH} deep")));
        }
        let Some(Token::Word(word)) = self.tokens.peek() else { return self.scoped_name().map(Spec::Named) };
        let number = match word {
            "boolean" => Number::Bool,
            "float" => Number::Float32,
            "char" | "octet" | "byte" => Number::Uint8,
            "sequence" => {
                self.tokens.take();
                self.expect('<')?;
                let element = self.spec(depth + 1)?;
                if self.tokens.takes(Token::Sign(',')) {
                    self.count()?; // the most that there are, which is no part of a type
                }
                self.expect('>')?;
                return Ok(Spec::Sequence(Rc::new(element)));
            }
            "string" | "wstring" => {
                self.tokens.take();
                if self.tokens.takes(Token::Sign('<')) {
                    self.count()?;
                    self.expect('>')?;
                }
                return Ok(if word == "string" { Spec::String } else { Spec::Refused("which is a string of wide characters") });
            }
            "unsigned" | "short" | "long" | "double" => return self.number_of_words(),
            "any" | "fixed" | "map" => return Err(self.unexpected("a type that sinew has")),
            "wchar" => {
                self.tokens.take();
                return Ok(Spec::Refused("which is a wide character"));
            }
            _ => match Number::of_name(word) {
                Some(number) if number.is_integer() => number,
                _ => return self.scoped_name().map(Spec::Named),
            },
        };
        self.tokens.take();
        Ok(Spec::Number(number))
    }

    fn number_of_words(&mut self) -> Read<Spec<'a>> {
        let is_unsigned = self.tokens.takes(Token::Word("unsigned"));
        let of = |signed, unsigned| Spec::Number(if is_unsigned { unsigned } else { signed });
        Ok(if self.tokens.takes(Token::Word("short")) {
            of(Number::Int16, Number::Uint16)
        } else if !is_unsigned && self.tokens.takes(Token::Word("double")) {
            Spec::Number(Number::Float64)
        } else {
            self.keyword("long")?;
            if self.tokens.takes(Token::Word("long")) {
                of(Number::Int64, Number::Uint64)
            } else if self.tokens.takes(Token::Word("double")) {
                Spec::Refused("which is a number of 16 bytes")
            } else {
                of(Number::Int32, Number::Uint32)
            }
        })
    }

    fn scoped_name(&mut self) -> Read<Vec<&'a str>> {
        self.tokens.takes(Token::Scope);
        let mut words = vec![self.name()?];
        while self.tokens.takes(Token::Scope) {
            words.push(self.name()?);
            if words.len() > MAX_MODULES {
                return Err(SchemaError(format!("the IDL has a name of more than {MAX_MODULES} parts")));
            }
        }
        Ok(words)
    }

    fn annotations(&mut self) -> Read<Annotations> {
        let mut all = Annotations::default();
        while self.tokens.takes(Token::Sign('@')) {
            let names = self.scoped_name()?;
            let name = names.last().copied().unwrap_or_default();
            let mut argument = None;
            if self.tokens.takes(Token::Sign('(')) {
                argument = self.tokens.peek();
                let mut open = 1;
                while open > 0 {
                    match self.tokens.take() {
                        None => return Err(self.unexpected("')'")),
                        Some(Token::Sign('(')) => open += 1,
                        Some(Token::Sign(')')) => open -= 1,
                        Some(_) => {}
                    }
                }
            }
            match (name, argument) {
                ("mutable", _) | ("extensibility", Some(Token::Word("MUTABLE"))) => {
                    all.refused = Some("whose fields are numbered in a stream")
                }
                ("optional", _) => all.refused = Some("which is left out of streams in a way that sinew does not have"),
                ("bit_bound", Some(Token::Digits(digits))) => all.bits = digits.parse().ok(),
                _ => {}
            }
        }
        Ok(all)
    }

    fn count(&mut self) -> Read<Count<'a>> {
        if let Some(Token::Word(_)) = self.tokens.peek() {
            let name = self.scoped_name()?;
            return Ok(Count::Constant(name.last().copied().unwrap_or_default()));
        }
        match self.tokens.peek() {
            Some(Token::Digits(digits)) if digits.parse::<u64>().is_ok() => {
                self.tokens.take();
                Ok(Count::Number(digits.parse().unwrap_or_default()))
            }
            _ => Err(self.unexpected("a number")),
        }
    }

    fn name(&mut self) -> Read<&'a str> {
        match self.tokens.peek() {
            Some(Token::Word(word)) if word.len() <= MAX_WORD => {
                self.tokens.take();
                Ok(word)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    fn keyword(&mut self, word: &str) -> Read<()> {
        if self.tokens.takes(Token::Word(word)) { Ok(()) } else { Err(self.unexpected(&format!("'{word}'"))) }
    }

    fn expect(&mut self, sign: char) -> Read<()> {
        if self.tokens.takes(Token::Sign(sign)) { Ok(()) } else { Err(self.unexpected(&format!("'{sign}'"))) }
    }

    fn unexpected(&self, wanted: &str) -> SchemaError {
        let found =
            if self.tokens.peek().is_none() { "it ends".to_owned() } else { format!("{} stands there", quoted(self.tokens.here())) };
        SchemaError(format!("the IDL cannot be read: where {wanted} is expected {found}"))
    }
}
