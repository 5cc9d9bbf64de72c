//! In which column everything stands: right of all that it comes from.

use std::cmp::Reverse;
use std::collections::BTreeSet;

/// In which columns vertices stand, and which links go back.
pub struct Layers {
    /// Of each vertex, from 0.
    pub layer: Vec<usize>,
    /// Of each link: it is part of a cycle, and drawn from right to left.
    pub goes_back: Vec<bool>,
}

/// Of so many vertices: nodes, and from `odd` on topics, which stand in odd columns, nodes in even ones, as no link is between two of a kind.
pub fn layers(count: usize, links: &[(usize, usize)], odd: usize) -> Layers {
    let ranks = ranks(count, links, odd);
    let goes_back: Vec<bool> = links.iter().map(|(from, to)| ranks[*from] > ranks[*to]).collect();
    let mut sequence: Vec<usize> = (0..count).collect();
    sequence.sort_by_key(|vertex| ranks[*vertex]);
    let mut out = vec![Vec::new(); count];
    for ((from, to), back) in links.iter().zip(&goes_back) {
        let (left, right) = if *back { (to, from) } else { (from, to) };
        out[*left].push(*right);
    }
    let mut layer: Vec<usize> = (0..count).map(|vertex| usize::from(vertex >= odd)).collect();
    for vertex in sequence {
        for right in &out[vertex] {
            layer[*right] = layer[*right].max(layer[vertex] + 1);
        }
    }
    Layers { layer, goes_back }
}

/// Nodes in an order in which few messages go back, and each topic behind its publishers: behind those that come before its first subscriber, or else behind the first, so that what goes back comes from topics.
fn ranks(count: usize, links: &[(usize, usize)], odd: usize) -> Vec<usize> {
    let (mut publishers, mut subscribers) = (vec![Vec::new(); count - odd], vec![Vec::new(); count - odd]);
    for (from, to) in links {
        if *to >= odd { publishers[*to - odd].push(*from) } else { subscribers[*from - odd].push(*to) }
    }
    let pairs = |(from, to): (&Vec<usize>, &Vec<usize>)| -> Vec<(usize, usize)> {
        from.iter().flat_map(|from| to.iter().map(|to| (*from, *to))).filter(|(from, to)| from != to).collect()
    };
    let between: Vec<(usize, usize)> = publishers.iter().zip(&subscribers).flat_map(pairs).collect();
    let mut ranks = vec![0; count];
    sequence(odd, &between).into_iter().enumerate().for_each(|(at, node)| ranks[node] = 2 * at);
    for (topic, (publishers, subscribers)) in publishers.iter().zip(&subscribers).enumerate() {
        let first_to = subscribers.iter().map(|node| ranks[*node]).min().unwrap_or(usize::MAX);
        let from = || publishers.iter().map(|node| ranks[*node]);
        let behind = from().filter(|rank| *rank < first_to).max().or_else(|| from().min());
        ranks[odd + topic] = behind.map_or(0, |rank| rank + 1);
    }
    ranks
}

/// An order in which few links go back, after Eades, Lin and Smyth: what nothing comes to is taken for the front, what nothing goes out of for the end, and else, for the front, what has most going out over coming in.
fn sequence(count: usize, links: &[(usize, usize)]) -> Vec<usize> {
    let mut rest = Rest::new(count, links);
    let (mut front, mut end) = (Vec::new(), Vec::new());
    while let Some((class, vertex)) = rest.take() {
        if class == Class::End { &mut end } else { &mut front }.push(vertex);
    }
    front.extend(end.into_iter().rev());
    front
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Beginning,
    End,
    Between,
}

/// What is not in the sequence yet, by what is to be taken next.
struct Rest {
    out: Vec<Vec<usize>>,
    into: Vec<Vec<usize>>,
    goes: Vec<usize>,
    comes: Vec<usize>,
    is_taken: Vec<bool>,
    by_rank: BTreeSet<(Class, Reverse<isize>, usize)>,
}

impl Rest {
    fn new(count: usize, links: &[(usize, usize)]) -> Rest {
        let (mut out, mut into) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (from, to) in links {
            out[*from].push(*to);
            into[*to].push(*from);
        }
        let (goes, comes) = (out.iter().map(Vec::len).collect(), into.iter().map(Vec::len).collect());
        let mut rest = Rest { out, into, goes, comes, is_taken: vec![false; count], by_rank: BTreeSet::new() };
        rest.by_rank = (0..count).map(|vertex| rest.rank(vertex)).collect();
        rest
    }

    fn rank(&self, vertex: usize) -> (Class, Reverse<isize>, usize) {
        let (goes, comes) = (self.goes[vertex], self.comes[vertex]);
        let class = match (goes, comes) {
            (_, 0) => Class::Beginning,
            (0, _) => Class::End,
            _ => Class::Between,
        };
        (class, Reverse(goes as isize - comes as isize), vertex)
    }

    fn take(&mut self) -> Option<(Class, usize)> {
        let (class, _, vertex) = self.by_rank.pop_first()?;
        self.is_taken[vertex] = true;
        for neighbour in std::mem::take(&mut self.out[vertex]) {
            self.lower(neighbour, |rest| &mut rest.comes[neighbour]);
        }
        for neighbour in std::mem::take(&mut self.into[vertex]) {
            self.lower(neighbour, |rest| &mut rest.goes[neighbour]);
        }
        Some((class, vertex))
    }

    fn lower(&mut self, vertex: usize, count: impl Fn(&mut Rest) -> &mut usize) {
        if self.is_taken[vertex] {
            return;
        }
        self.by_rank.remove(&self.rank(vertex));
        *count(self) -= 1;
        self.by_rank.insert(self.rank(vertex));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_stands_right_of_what_it_comes_from() {
        // 0 and 1 publish 3; 2 receives it, and 4, which 0 publishes, too.
        let links = [(0, 3), (1, 3), (3, 2), (0, 4), (4, 2)];
        let layers = layers(5, &links, 3);
        assert_eq!(layers.layer, [0, 0, 2, 1, 1]);
        assert!(layers.goes_back.iter().all(|back| !back));
    }

    #[test]
    fn a_topic_that_nobody_publishes_stands_where_topics_do() {
        assert_eq!(layers(2, &[(1, 0)], 1).layer, [2, 1]);
    }

    #[test]
    fn of_a_cycle_one_link_goes_back() {
        let links = [(0, 2), (2, 1), (1, 3), (3, 0)];
        let layers = layers(4, &links, 2);
        assert_eq!(layers.goes_back.iter().filter(|back| **back).count(), 1);
        for ((from, to), back) in links.iter().zip(&layers.goes_back) {
            assert_eq!(layers.layer[*from] > layers.layer[*to], *back);
        }
    }
}
