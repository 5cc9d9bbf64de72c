//! Which ways a rule leaves open.

use std::fmt;

/// Where messages of a channel may go between this domain and a peer's: table 5.1 of the thesis. Of a service it says who may provide it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// `x`: nowhere, whatever the peer's rule is.
    #[default]
    None,
    /// `=`: both ways, as far as the peer's rule allows.
    Both,
    /// `>`: from here to the peer; only this domain provides the service.
    Out,
    /// `<`: from the peer to here; only the peer's domain provides the service.
    In,
}

impl Symbol {
    /// All, in the order of table 5.1.
    pub const ALL: [Symbol; 4] = [Symbol::None, Symbol::Both, Symbol::Out, Symbol::In];

    /// From its sign or its name, as a configuration has it.
    pub fn parse(text: &str) -> Option<Symbol> {
        Symbol::ALL.into_iter().find(|symbol| text == symbol.sign() || text == symbol.name())
    }

    /// The thesis' sign.
    pub fn sign(self) -> &'static str {
        match self {
            Symbol::None => "x",
            Symbol::Both => "=",
            Symbol::Out => ">",
            Symbol::In => "<",
        }
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Symbol::None => "none",
            Symbol::Both => "both",
            Symbol::Out => "out",
            Symbol::In => "in",
        }
    }

    /// Whether anything may go from here to the peer.
    pub fn lets_out(self) -> bool {
        matches!(self, Symbol::Both | Symbol::Out)
    }

    /// Whether anything may come from the peer.
    pub fn lets_in(self) -> bool {
        matches!(self, Symbol::Both | Symbol::In)
    }

    /// What is left of this rule where the peer has that one: table 5.2 of the thesis, seen from here.
    pub fn combined(self, peer: Symbol) -> Symbol {
        match (self.lets_out() && peer.lets_in(), self.lets_in() && peer.lets_out()) {
            (false, false) => Symbol::None,
            (true, true) => Symbol::Both,
            (true, false) => Symbol::Out,
            (false, true) => Symbol::In,
        }
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} ({})", self.name(), self.sign())
    }
}

#[cfg(test)]
mod tests {
    use super::Symbol;
    use super::Symbol::{Both, In, None, Out};

    #[test]
    fn the_rules_of_both_sides_combine_as_in_table_5_2() {
        // As it is printed: the rows are the local rule, the columns x = < > the peer's.
        let table =
            [(None, [None, None, None, None]), (Both, [None, Both, Out, In]), (In, [None, In, None, In]), (Out, [None, Out, Out, None])];
        for (local, row) in table {
            for (peer, combined) in [None, Both, In, Out].into_iter().zip(row) {
                assert_eq!(local.combined(peer), combined, "{local} with {peer}");
            }
        }
    }

    #[test]
    fn what_one_side_lets_out_the_other_one_lets_in_for_all_combinations() {
        for (local, peer) in Symbol::ALL.into_iter().flat_map(|local| Symbol::ALL.map(|peer| (local, peer))) {
            assert_eq!(local.combined(peer).lets_out(), peer.combined(local).lets_in(), "{local} with {peer}");
            assert_eq!(local.combined(peer).lets_out(), local.lets_out() && peer.lets_in(), "{local} with {peer}");
        }
    }

    #[test]
    fn a_symbol_is_read_from_its_sign_and_from_its_name_alone() {
        for symbol in Symbol::ALL {
            assert_eq!(Symbol::parse(symbol.sign()), Some(symbol));
            assert_eq!(Symbol::parse(symbol.name()), Some(symbol));
        }
        for text in ["", "X", "==", "Both", "->", " ="] {
            assert_eq!(Symbol::parse(text), Option::None, "{text}");
        }
    }
}
