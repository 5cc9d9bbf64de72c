//! The hash of a type's structure (spec/types.md, section 4).

use crate::types::{Number, Type};

/// FNV-1a of 128 bits.
struct Fnv(u128);

impl Fnv {
    fn put(&mut self, text: &str) {
        const PRIME: u128 = (1 << 88) + 0x13b;
        for byte in text.bytes() {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(PRIME);
        }
    }

    fn put_type(&mut self, ty: &Type) {
        match ty {
            Type::Number(number) => self.put(number.name()),
            Type::String => self.put("string"),
            Type::Enumeration { number, .. } => self.put_enumeration(*number),
            Type::Vector(element) => {
                self.put_type(element);
                self.put("[]");
            }
            Type::Array(element, length) => {
                self.put_type(element);
                self.put(&format!("[{length}]"));
            }
            Type::Optional(value) => {
                self.put_type(value);
                self.put("?");
            }
            Type::Structure(structure) => {
                self.put("{");
                for field in &structure.fields {
                    self.put(&field.name);
                    self.put(":");
                    self.put_type(&field.ty);
                    self.put(";");
                }
                self.put("}");
            }
            Type::Variant(alternatives) => {
                let mut separator = "(";
                for alternative in alternatives {
                    self.put(separator);
                    self.put_type(alternative);
                    separator = "|";
                }
                self.put(")");
            }
        }
    }

    fn put_enumeration(&mut self, number: Number) {
        self.put("enum(");
        self.put(number.name());
        self.put(")");
    }
}

fn mix(mut x: u64) -> u64 {
    const FACTOR: u64 = 0x0e98_46af_9b1a_615d;
    x ^= x >> 32;
    x = x.wrapping_mul(FACTOR);
    x ^= x >> 32;
    x = x.wrapping_mul(FACTOR);
    x ^ (x >> 28)
}

impl Type {
    /// Two ends connect when this is equal (T4). It has no names of types in it.
    pub fn hash(&self) -> [u8; 16] {
        let mut fnv = Fnv(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        fnv.put_type(self);
        let (upper, lower) = ((fnv.0 >> 64) as u64, fnv.0 as u64);
        let l = mix(lower ^ mix(upper));
        let u = mix(upper.wrapping_add(l));
        (u128::from(u) << 64 | u128::from(l)).to_be_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t4_6_the_hash_of_the_example_is_that_of_the_specification() {
        let header: Type = "robot/Header{stamp_ns:uint64;frame_id:string;}".parse().unwrap();
        assert_eq!(u128::from_be_bytes(header.hash()), 0x33ef0273c90f65bb046d82280a77a102);
    }

    #[test]
    fn t4_1_names_of_types_are_not_in_it_and_names_of_fields_are() {
        let hash = |signature: &str| signature.parse::<Type>().unwrap().hash();
        assert_eq!(hash("a/B{x:c/D(uint8);}"), hash("B{x:E(uint8);}"));
        assert_ne!(hash("a/B{x:uint8;}"), hash("a/B{y:uint8;}"));
        assert_ne!(hash("B{x:uint8[3];}"), hash("B{x:uint8[4];}"));
        assert_ne!(hash("B{x:uint8;}"), hash("B{x:E(uint8);}"));
    }
}
