//! Rulesets, which are the same in both forms.

use super::node::{Node, Table};
use super::source::Outcome;
use super::{Transport, transport};
use crate::protocol::{Kind, Packing};
use crate::rules::{Exception, Names, Place, Rule, RuleList, Rules, Ruleset, Symbol, Traffic};

pub const RULESET_KEYS: [&str; 3] = ["tag", "topics", "services"];
pub const LIST_KEYS: [&str; 8] = ["base_rule", "exceptions", "priority", "max_rate", "max_bandwidth", "reliable", "compression", "onward"];
pub const EXCEPTION_KEYS: [&str; 10] =
    ["name", "starts_with", "contains", "rule", "priority", "max_rate", "max_bandwidth", "reliable", "compression", "onward"];
/// What a rule of services does not say.
const OF_TOPICS: [&str; 4] = ["max_rate", "max_bandwidth", "reliable", "compression"];
/// How far priorities go, either way.
pub const PRIORITIES: i32 = 1000;

/// A list of them.
pub fn read(node: &Node<'_>, transport: &Transport) -> Outcome<Rules> {
    let rulesets = node.list("ruleset", "a list of rulesets")?;
    Ok(Rules { at: node.at(), rulesets: rulesets.iter().map(|node| ruleset(node, transport)).collect::<Outcome<_>>()? })
}

fn ruleset(node: &Node<'_>, transport: &Transport) -> Outcome<Ruleset> {
    let table = node.table(&RULESET_KEYS)?;
    transport::ruled(&table, transport)?;
    Ok(Ruleset {
        at: table.at(),
        tag: table.read("tag", Node::name)?,
        topics: table.read("topics", |node| list(node, Kind::Topic, transport))?,
        services: table.read("services", |node| list(node, Kind::Service, transport))?,
    })
}

fn list(node: &Node<'_>, kind: Kind, transport: &Transport) -> Outcome<RuleList> {
    let table = node.table(&LIST_KEYS)?;
    let base = table.need("base_rule", &format!("which holds for all names that no exception fits: {}", symbols()))?;
    let base = rule(base.at(), symbol(&base)?, &table, kind, transport)?;
    let exceptions = table.read("exceptions", |node| {
        let exceptions = node.list("exception", "a list of exceptions")?;
        exceptions.iter().map(|node| exception(node, kind, transport)).collect::<Outcome<_>>()
    })?;
    Ok(RuleList { base, exceptions: exceptions.unwrap_or_default() })
}

fn exception(node: &Node<'_>, kind: Kind, transport: &Transport) -> Outcome<Exception> {
    let table = node.table(&EXCEPTION_KEYS)?;
    let names = [("name", Names::Is as fn(String) -> Names), ("starts_with", Names::StartsWith), ("contains", Names::Contains)];
    let mut said = Vec::new();
    for (key, of) in names {
        said.extend(table.read(key, |node| node.name().map(of))?);
    }
    let [names] = <[Names; 1]>::try_from(said).map_err(|said| {
        table.error(format!("an exception has one of 'name', 'starts_with' and 'contains', but this one has {}", said.len()))
    })?;
    let way = table.need("rule", &format!("which says which way is open: {}", symbols()))?;
    Ok(Exception { names, rule: rule(table.at(), symbol(&way)?, &table, kind, transport)? })
}

fn rule(at: Place, symbol: Symbol, table: &Table<'_>, kind: Kind, transport: &Transport) -> Outcome<Rule> {
    let traffic = traffic(table, transport)?;
    if kind == Kind::Service
        && let Some((key, node)) = OF_TOPICS.iter().find_map(|key| Some((key, table.get(key)?)))
    {
        return Err(node.error(format!("'{key}' is for topics alone: leave it out, as no call is left out, or packed")));
    }
    if let Some(onward) = table.get("onward") {
        if kind == Kind::Service {
            return Err(onward.error(
                "'onward' is for topics alone: leave it out, as services that a bridge provides are called in its own domain only",
            ));
        }
        if !symbol.lets_out() {
            return Err(onward.error(format!(
                "'onward' is for rules that let topics out, but this one is \"{}\": leave it out, or say \"out\" or \"both\"; what an exception lets out, it says itself",
                symbol.name()
            )));
        }
    }
    Ok(Rule { at, symbol, traffic })
}

fn symbol(node: &Node<'_>) -> Outcome<Symbol> {
    let possible = symbols();
    let text = node.text(&possible)?;
    Symbol::parse(text).ok_or_else(|| {
        let near = sinew_msg::nearest(text, Symbol::ALL.into_iter().map(Symbol::name));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"));
        node.wrong(&(possible + &hint))
    })
}

fn symbols() -> String {
    let said = Symbol::ALL.map(|symbol| format!("\"{}\" or \"{}\"", symbol.sign(), symbol.name()));
    format!("one of {}", said.join(", "))
}

fn traffic(table: &Table<'_>, transport: &Transport) -> Outcome<Traffic> {
    transport::shaping(table, transport)?;
    let packings = [("none", Packing::None), ("zstd", Packing::Zstd), ("lz4", Packing::Lz4)];
    Ok(Traffic {
        priority: table.read("priority", |node| node.integer(-PRIORITIES, PRIORITIES))?.unwrap_or_default(),
        max_rate: table.read("max_rate", Node::rate)?,
        max_bandwidth: table.read("max_bandwidth", Node::bandwidth)?,
        reliable: table.read("reliable", Node::boolean)?.unwrap_or_default(),
        compression: table.read("compression", |node| node.one_of(&packings))?.unwrap_or_default(),
        onward: table.read("onward", Node::boolean)?.unwrap_or_default(),
    })
}
