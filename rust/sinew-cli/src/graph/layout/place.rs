//! How far down things stand in their column: near what they are linked to, and none upon another.

use super::order::Columns;

/// What is given of a vertex or bend.
#[derive(Clone, Copy)]
pub struct Space {
    /// How high it is.
    pub height: f64,
    /// Free above and below it.
    pub margin: f64,
    /// Its links begin and end below each other, not all at its middle.
    pub has_ports: bool,
    /// It is only there for a link, which is best straight.
    pub is_bend: bool,
}

/// Where things stand.
pub struct Heights {
    /// The middle of each.
    pub middle: Vec<f64>,
    /// Of each link, in the order of chains: from the middle of what it begins at.
    pub begins: Vec<f64>,
    /// Of what it ends at.
    pub ends: Vec<f64>,
}

/// Between the links of one box.
pub const PORT: f64 = 13.0;
const ROUNDS: usize = 64;

struct Step {
    /// What the end is linked to.
    other: usize,
    /// Where that should be, so that the link is level.
    offset: f64,
    weight: f64,
}

/// Finds the heights.
pub fn place(columns: &Columns, spaces: &[Space], goes_back: &[bool]) -> Heights {
    let (begins, ends) = ports(columns, spaces, goes_back);
    let (left, right) = steps(columns, spaces, &begins, &ends);
    let mut middle = vec![0.0; spaces.len()];
    for column in &columns.columns {
        settle(column, spaces, &vec![0.0; column.len()], &vec![1.0; column.len()], &mut middle);
    }
    for round in 0..ROUNDS {
        let of_both = round + 4 >= ROUNDS;
        let sides: &[&Vec<Vec<Step>>] = match (of_both, round % 2 == 0) {
            (true, _) => &[&left, &right],
            (false, true) => &[&left],
            (false, false) => &[&right],
        };
        let count = columns.columns.len();
        for at in 0..count {
            let column = &columns.columns[if round % 2 == 0 { at } else { count - 1 - at }];
            let (mut wanted, mut weights) = (Vec::new(), Vec::new());
            for vertex in column {
                let steps = || sides.iter().flat_map(|side| &side[*vertex]);
                let weight: f64 = steps().map(|step| step.weight).sum();
                let goals = || steps().map(|step| middle[step.other] + step.offset);
                // What has no link on that side stays, and so does a bend between both of its neighbours: one step is better than two.
                wanted.push(match weight {
                    0.0 => middle[*vertex],
                    _ if of_both && spaces[*vertex].is_bend => {
                        middle[*vertex].max(goals().fold(f64::INFINITY, f64::min)).min(goals().fold(f64::NEG_INFINITY, f64::max))
                    }
                    _ => steps().zip(goals()).map(|(step, goal)| goal * step.weight).sum::<f64>() / weight,
                });
                weights.push(weight.max(0.01));
            }
            settle(column, spaces, &wanted, &weights, &mut middle);
        }
    }
    Heights { middle, begins, ends }
}

/// Links of one side begin in the order of what they go to; at a topic's middle, but where some of them come and others go.
fn ports(columns: &Columns, spaces: &[Space], goes_back: &[bool]) -> (Vec<f64>, Vec<f64>) {
    let mut place = vec![0; spaces.len()];
    for column in &columns.columns {
        column.iter().enumerate().for_each(|(at, vertex)| place[*vertex] = at);
    }
    let spread = |end: fn(&[usize]) -> (usize, usize)| {
        let mut links: Vec<Vec<(usize, usize)>> = vec![Vec::new(); spaces.len()];
        for (link, chain) in columns.chains.iter().enumerate() {
            let (at, next) = end(chain);
            links[at].push((place[next], link));
        }
        let mut offsets = vec![0.0; columns.chains.len()];
        for (vertex, mut of_box) in links.into_iter().enumerate() {
            of_box.sort_unstable();
            let first = (of_box.len() as f64 - 1.0) / -2.0;
            let goes_up = of_box.first().is_some_and(|(_, link)| goes_back[*link]);
            let is_mixed = of_box.iter().any(|(_, link)| goes_back[*link] != goes_up);
            for (at, (_, link)) in of_box.iter().enumerate() {
                offsets[*link] = match (spaces[vertex].has_ports, is_mixed) {
                    (true, _) => (first + at as f64) * PORT,
                    (false, true) => PORT / if goes_back[*link] == goes_up { -2.0 } else { 2.0 },
                    (false, false) => 0.0,
                };
            }
        }
        offsets
    };
    (spread(|chain| (chain[0], chain[1])), spread(|chain| (chain[chain.len() - 1], chain[chain.len() - 2])))
}

fn steps(columns: &Columns, spaces: &[Space], begins: &[f64], ends: &[f64]) -> (Vec<Vec<Step>>, Vec<Vec<Step>>) {
    let none = || (0..spaces.len()).map(|_| Vec::new()).collect::<Vec<Vec<Step>>>();
    let (mut left, mut right) = (none(), none());
    for (link, chain) in columns.chains.iter().enumerate() {
        for (at, step) in chain.windows(2).enumerate() {
            let from = if at == 0 { begins[link] } else { 0.0 };
            let to = if at + 2 == chain.len() { ends[link] } else { 0.0 };
            let weight = match (spaces[step[0]].is_bend, spaces[step[1]].is_bend) {
                (true, true) => 8.0,
                (false, false) => 1.0,
                _ => 2.0,
            };
            right[step[0]].push(Step { other: step[1], offset: to - from, weight });
            left[step[1]].push(Step { other: step[0], offset: from - to, weight });
        }
    }
    (left, right)
}

/// Puts a column as near as can be, by the sum of squares, to where it is wanted: what would stand upon each other moves together (pool adjacent violators).
fn settle(column: &[usize], spaces: &[Space], wanted: &[f64], weights: &[f64], middle: &mut [f64]) {
    struct Block {
        sum: f64,
        weight: f64,
        count: usize,
    }
    let reach = |vertex: usize| spaces[vertex].height / 2.0 + spaces[vertex].margin;
    // Without what must lie between them, they only have to be in order.
    let mut offsets = Vec::with_capacity(column.len());
    let mut offset = 0.0;
    for (at, vertex) in column.iter().enumerate() {
        offset += if at == 0 { 0.0 } else { reach(column[at - 1]) + reach(*vertex) };
        offsets.push(offset);
    }
    let mut blocks: Vec<Block> = Vec::new();
    for ((wanted, weight), offset) in wanted.iter().zip(weights).zip(&offsets) {
        let mut block = Block { sum: (wanted - offset) * weight, weight: *weight, count: 1 };
        while let Some(above) = blocks.pop_if(|above| above.sum / above.weight >= block.sum / block.weight) {
            block = Block { sum: above.sum + block.sum, weight: above.weight + block.weight, count: above.count + block.count };
        }
        blocks.push(block);
    }
    let positions = blocks.iter().flat_map(|block| std::iter::repeat_n(block.sum / block.weight, block.count));
    for ((vertex, position), offset) in column.iter().zip(positions).zip(&offsets) {
        middle[*vertex] = position + offset;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: Space = Space { height: 20.0, margin: 5.0, has_ports: false, is_bend: false };

    #[test]
    fn what_has_room_stands_where_it_is_wanted_and_the_rest_shares_the_way() {
        let mut middle = vec![0.0; 3];
        settle(&[0, 1, 2], &[SPACE; 3], &[0.0, 100.0, 100.0], &[1.0; 3], &mut middle);
        assert_eq!(middle, [0.0, 85.0, 115.0]);
    }

    #[test]
    fn what_weighs_more_moves_less() {
        let mut middle = vec![0.0; 2];
        settle(&[1, 0], &[SPACE; 2], &[0.0, 0.0], &[2.0, 1.0], &mut middle);
        assert_eq!(middle, [20.0, -10.0]);
    }
}
