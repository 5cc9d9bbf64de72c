//! Types of what IDL defines.

use std::collections::HashSet;

use super::SchemaError;
use super::budget::Budget;
use super::idl::{Count, Definition, Definitions, Member, Scope, Spec};
use crate::signature::quoted;
use crate::types::{Field, MAX_DEPTH, MAX_MEMBERS, Structure, Type};

/// The type of that name, `a::b::C` or `a/b/C`.
pub(super) fn parse<'a>(name: &'a str, definitions: &Definitions<'a>) -> Result<Type, SchemaError> {
    let words: Vec<_> = name.split("::").flat_map(|part| part.split('/')).collect();
    let found = definitions.below(0, &words).ok_or_else(|| SchemaError(format!("the IDL has no definition of {}", quoted(name))))?;
    Resolving { definitions, budget: Budget::new() }.definition(found, 1)
}

/// Where something is defined, and its name.
type Key<'d> = (Scope, &'d str);

impl<'a> Definitions<'a> {
    /// A type inside of a module.
    fn below(&self, scope: Scope, words: &[&'a str]) -> Option<Key<'a>> {
        let (name, modules) = words.split_last()?;
        let scope = modules.iter().try_fold(scope, |scope, module| self.modules.get(&(scope, *module)).copied())?;
        let (key, _) = self.types.get_key_value(&(scope, *name))?;
        Some(*key)
    }

    /// The modules around one, from itself on.
    fn around(&self, scope: Scope) -> impl Iterator<Item = Scope> {
        std::iter::successors(Some(scope), |scope| (*scope != 0).then(|| self.scopes[*scope].0))
    }

    /// `a/b/C`
    fn path(&self, (scope, name): Key<'_>) -> String {
        let mut words: Vec<_> = self.around(scope).filter(|scope| *scope != 0).map(|scope| self.scopes[scope].1).collect();
        words.reverse();
        words.push(name);
        words.join("/")
    }
}

struct Resolving<'d, 'a> {
    definitions: &'d Definitions<'a>,
    budget: Budget,
}

/// Makes a complaint of what is wrong.
type Wrong<'w> = &'w dyn Fn(&str) -> SchemaError;

impl<'a> Resolving<'_, 'a> {
    fn definition(&mut self, key: Key<'a>, depth: usize) -> Result<Type, SchemaError> {
        let definitions = self.definitions;
        let path = definitions.path(key);
        if depth > MAX_DEPTH {
            return Err(SchemaError(format!("{} contains itself, or is nested more than {MAX_DEPTH} deep", quoted(&path))));
        }
        match &definitions.types[&key] {
            Definition::Enumeration(number) => {
                self.budget.take(&path)?;
                Ok(Type::Enumeration { name: path, number: *number })
            }
            Definition::Other(spec) => {
                self.ty(key.0, spec, &|what| SchemaError(format!("the IDL defines {}, {what}", quoted(&path))), depth)
            }
            Definition::Structure(members) => {
                self.budget.take(&path)?;
                Ok(Type::Structure(Structure { fields: self.fields(key.0, &path, members, depth)?, name: path }))
            }
            Definition::Union(members) => {
                let numbers = members.iter().map(|member| member.label.and_then(|label| self.count(key.0, label)));
                if members.is_empty() || !numbers.eq((0..members.len() as u64).map(Some)) {
                    return Err(SchemaError(format!(
                        "the IDL defines the union {}, whose alternatives are not numbered from 0 on",
                        quoted(&path)
                    )));
                }
                Ok(Type::Variant(self.fields(key.0, &path, members, depth)?.into_iter().map(|field| field.ty).collect()))
            }
        }
    }

    fn fields(&mut self, scope: Scope, path: &str, members: &[Member<'a>], depth: usize) -> Result<Vec<Field>, SchemaError> {
        if members.len() > MAX_MEMBERS {
            let count = members.len();
            return Err(SchemaError(format!("{} has {count} members, and {MAX_MEMBERS} are the most that sinew takes", quoted(path))));
        }
        let mut names = HashSet::new();
        let mut fields = Vec::new();
        for member in members {
            if !names.insert(member.name) {
                return Err(SchemaError(format!("{} has two members named {}", quoted(path), quoted(member.name))));
            }
            self.budget.take(member.name)?;
            let wrong = |what: &str| SchemaError(format!("{} has the member {}, {what}", quoted(path), quoted(member.name)));
            fields.push(Field { name: member.name.to_owned(), ty: self.ty(scope, &member.spec, &wrong, depth)? });
        }
        Ok(fields)
    }

    fn ty(&mut self, scope: Scope, spec: &Spec<'a>, wrong: Wrong<'_>, depth: usize) -> Result<Type, SchemaError> {
        match spec {
            Spec::Number(number) => Ok(Type::Number(*number)),
            Spec::String => Ok(Type::String),
            Spec::Sequence(element) => Ok(Type::Vector(Box::new(self.ty(scope, element, wrong, depth)?))),
            Spec::Array(element, length) => {
                let length = self.count(scope, *length).and_then(|length| u32::try_from(length).ok());
                let length = length.ok_or_else(|| wrong("whose length no message can have"))?;
                Ok(Type::Array(Box::new(self.ty(scope, element, wrong, depth)?), length))
            }
            Spec::Named(words) => {
                let found = self.definitions.around(scope).find_map(|scope| self.definitions.below(scope, words));
                let found =
                    found.ok_or_else(|| wrong(&format!("of the type {}, of which there is no definition", quoted(&words.join("::")))))?;
                self.definition(found, depth + 1)
            }
            Spec::Refused(why) => Err(wrong(why)),
        }
    }

    fn count(&self, scope: Scope, count: Count<'_>) -> Option<u64> {
        match count {
            Count::Number(number) => Some(number),
            Count::Constant(name) => {
                self.definitions.around(scope).find_map(|scope| self.definitions.constants.get(&(scope, name)).copied())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::schema;

    fn read(name: &str, text: &str) -> Result<String, String> {
        schema::parse(name, "omgidl", text).map(|ty| ty.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_ros_2_makes_of_its_definitions_is_read() {
        let rule = "=".repeat(80);
        let text = format!(
            r#"{rule}
IDL: a/msg/B
// generated
#include "a/msg/C.idl"
module a {{
  module msg {{
    typedef double double__4[4];
    typedef a::msg::C a__msg__C[2];
    module B_Constants {{
      @verbatim (language="comment", text=
        "Which; it is." "\n" "(all)")
      const uint8 KIND = 1;
      const string NAME = "a;b";
      const int32 LEAST = -3;
    }};
    @verbatim (language="comment", text="Of it.")
    struct B {{
      @unit (value="m")
      double__4 p;
      a__msg__C both;
      @default (value=TRUE)
      boolean on;
      sequence<uint8> data;
      sequence<a::msg::C, 3> few;
      string<10> text;
      octet byte_;
      unsigned long long count;
    }};
  }};
}};

{rule}
IDL: a/msg/C
module a {{ module msg {{ struct C {{ uint8 structure_needs_at_least_one_member; }}; }}; }};
"#
        );
        let c = "a/msg/C{structure_needs_at_least_one_member:uint8;}";
        let expected = format!("a/msg/B{{p:float64[4];both:{c}[2];on:bool;data:uint8[];few:{c}[];text:string;byte_:uint8;count:uint64;}}");
        assert_eq!(schema::parse("a/msg/B", "ros2idl", &text).unwrap().to_string(), expected);
    }

    #[test]
    fn names_are_looked_for_from_the_innermost_module_on() {
        let text = "struct C { char x; }; module a { const short N = 2; module b { struct B { C c; ::C d; C e[N]; }; struct C { long y; }; }; struct C { float z; }; };";
        assert_eq!(read("a::b::B", text).unwrap(), "a/b/B{c:a/b/C{y:int32;};d:a/b/C{y:int32;};e:a/b/C{y:int32;}[2];}");
        let text = "module a { module b { struct B { a::C c; C d; }; }; struct C { short x, y[2][3]; }; };";
        assert_eq!(read("a::b::B", text).unwrap(), "a/b/B{c:a/C{x:int16;y:int16[3][2];};d:a/C{x:int16;y:int16[3][2];};}");
    }

    #[test]
    fn enumerations_are_integers_and_unions_variants() {
        let text = "enum E { @value(3) A, B }; @bit_bound(8) enum F { C }; union U switch (unsigned long) { case 0: E e; case 1: sequence<F, 1> f; }; struct S { U u; };";
        assert_eq!(read("S", text).unwrap(), "S{u:(E(int32)|F(uint8)[]);}");
    }

    #[test]
    fn what_is_no_type_of_sinew_is_refused_with_the_member() {
        for (text, complaint) in [
            ("struct S { wstring w; };", "'S' has the member 'w', which is a string of wide characters"),
            ("struct S { long double d; };", "'S' has the member 'd', which is a number of 16 bytes"),
            ("struct S { @optional long d; };", "'S' has the member 'd', which is left out of streams in a way that sinew does not have"),
            ("@mutable struct S { long d; };", "the IDL defines 'S', whose fields are numbered in a stream"),
            ("@extensibility(MUTABLE) struct S { long d; };", "the IDL defines 'S', whose fields are numbered in a stream"),
            ("struct R { long d; }; struct S : R { long e; };", "the IDL defines 'S', which has a base"),
            ("struct S { a::B b; };", "'S' has the member 'b', of the type 'a::B', of which there is no definition"),
            ("struct S { long d[N]; };", "'S' has the member 'd', whose length no message can have"),
            ("const long N = 1 + 2; struct S { long d[N]; };", "'S' has the member 'd', whose length no message can have"),
            ("struct S { long d[4294967296]; };", "'S' has the member 'd', whose length no message can have"),
            ("struct S { long d; long d; };", "'S' has two members named 'd'"),
            ("struct S { S s; };", "'S' contains itself, or is nested more than 64 deep"),
            ("typedef S T; typedef T S;", "'S' contains itself, or is nested more than 64 deep"),
            ("union S switch (long) { case 1: long a; };", "the IDL defines the union 'S', whose alternatives are not numbered from 0 on"),
            ("union S switch (long) { case 0: case 1: long a; };", "the IDL defines 'S', which has two numbers for the same alternative"),
            ("union S switch (long) { case 0: long a; default: long b; };", "the IDL defines 'S', which has a default"),
            (
                "union S switch (octet) { case 0: long a; };",
                "the IDL defines 'S', whose alternatives are told apart by something else than an integer of 32 bits",
            ),
            ("struct T { long a; };", "the IDL has no definition of 'S'"),
            ("struct S { long a }", "the IDL cannot be read: where ';' is expected '}' stands there"),
            (
                "struct S { map<long, long> a; };",
                "the IDL cannot be read: where a type that sinew has is expected 'map<long, long> a; };' stands there",
            ),
            ("struct S {", "the IDL cannot be read: where a name is expected it ends"),
            ("interface S { };", "the IDL has a definition that begins with 'interface', which sinew does not know"),
        ] {
            assert_eq!(read("S", text).unwrap_err(), complaint, "{text}");
        }
    }

    #[test]
    fn no_text_takes_the_stack_or_becomes_a_type_without_end() {
        let doubling = |n: u32| format!("struct C{n} {{ C{0} x, y; }};", n + 1);
        let text = (0..60).map(doubling).collect::<String>() + "struct C60 { long x; };";
        assert!(read("C0", &text).unwrap_err().contains("more than 32768 bytes"));
        assert!(read("S", &"module a { ".repeat(9_000)).unwrap_err().contains("16 deep"));
        assert!(read("S", &("struct S { ".to_owned() + &"sequence<".repeat(9_000))).unwrap_err().contains("64 deep"));
        assert!(read("S", &("struct S { long a".to_owned() + &"[1]".repeat(9_000))).unwrap_err().contains("64 dimensions"));
        assert!(read("S", &("struct S { a".to_owned() + &"::a".repeat(9_000))).unwrap_err().contains("16 parts"));
        assert!(read("S", &("@a".to_owned() + &"(".repeat(9_000))).unwrap_err().contains("it ends"));
    }
}
