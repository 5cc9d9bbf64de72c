//! In which order things stand in their column, so that few links cross.

use super::layers::Layers;

/// Columns from left to right, of vertices and, where a link passes a column, of bends, which are numbered behind the vertices.
pub struct Columns {
    /// From top to bottom.
    pub columns: Vec<Vec<usize>>,
    /// What each link goes through from left to right, with its ends.
    pub chains: Vec<Vec<usize>>,
    /// Of each vertex and bend: what it is linked to in the column left of it.
    pub left: Vec<Vec<usize>>,
    /// Likewise right of it.
    pub right: Vec<Vec<usize>>,
    /// The column of each.
    pub column_of: Vec<usize>,
    place: Vec<usize>,
}

const ROUNDS: usize = 24;

/// Puts them in order.
pub fn order(layers: &Layers, links: &[(usize, usize)]) -> Columns {
    let mut columns = Columns::new(layers, links);
    columns.begin();
    let (mut best, mut fewest) = (columns.columns.clone(), columns.crossings());
    for round in 0..ROUNDS {
        if fewest == 0 {
            break;
        }
        columns.sweep(round % 2 == 0);
        columns.exchange();
        let crossings = columns.crossings();
        if crossings < fewest {
            (best, fewest) = (columns.columns.clone(), crossings);
        }
    }
    columns.columns = best;
    columns.note_places();
    columns
}

impl Columns {
    fn new(layers: &Layers, links: &[(usize, usize)]) -> Columns {
        let mut column_of = layers.layer.clone();
        let mut chains = Vec::new();
        for ((from, to), back) in links.iter().zip(&layers.goes_back) {
            let (left, right) = if *back { (*to, *from) } else { (*from, *to) };
            let first_bend = column_of.len();
            column_of.extend(layers.layer[left] + 1..layers.layer[right]);
            chains.push([left].into_iter().chain(first_bend..column_of.len()).chain([right]).collect::<Vec<_>>());
        }
        let count = column_of.len();
        let (mut left, mut right) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for step in chains.iter().flat_map(|chain| chain.windows(2)) {
            right[step[0]].push(step[1]);
            left[step[1]].push(step[0]);
        }
        let columns = vec![Vec::new(); column_of.iter().max().map_or(0, |last| last + 1)];
        Columns { columns, chains, left, right, column_of, place: vec![0; count] }
    }

    /// As one finds them who follows links, so that what belongs together is together.
    fn begin(&mut self) {
        let count = self.column_of.len();
        let mut is_found = vec![false; count];
        for start in 0..count {
            let mut open = vec![start];
            while let Some(found) = open.pop() {
                if std::mem::replace(&mut is_found[found], true) {
                    continue;
                }
                self.columns[self.column_of[found]].push(found);
                open.extend(self.left[found].iter().chain(&self.right[found]).rev().filter(|next| !is_found[**next]));
            }
        }
        self.note_places();
    }

    fn note_places(&mut self) {
        for column in &self.columns {
            column.iter().enumerate().for_each(|(place, vertex)| self.place[*vertex] = place);
        }
    }

    /// Each column after the one before it: everything where those are, on average, that it is linked to.
    fn sweep(&mut self, to_the_right: bool) {
        let last = self.columns.len();
        for step in 1..last {
            let (column, neighbours) = if to_the_right { (step, &self.left) } else { (last - 1 - step, &self.right) };
            let average = |vertex: usize| {
                let of = &neighbours[vertex];
                let sum: usize = of.iter().map(|neighbour| self.place[*neighbour]).sum();
                if of.is_empty() { self.place[vertex] as f64 } else { sum as f64 / of.len() as f64 }
            };
            let mut ranked: Vec<(f64, usize)> = self.columns[column].iter().map(|vertex| (average(*vertex), *vertex)).collect();
            ranked.sort_by(|(one, _), (other, _)| one.total_cmp(other));
            self.columns[column] = ranked.into_iter().map(|(_, vertex)| vertex).collect();
            self.columns[column].iter().enumerate().for_each(|(place, vertex)| self.place[*vertex] = place);
        }
    }

    /// Exchanges neighbours in a column, where fewer links cross then.
    fn exchange(&mut self) {
        for _ in 0..ROUNDS {
            let mut is_better = false;
            for column in 0..self.columns.len() {
                for upper in 1..self.columns[column].len() {
                    let (a, b) = (self.columns[column][upper - 1], self.columns[column][upper]);
                    let crossings = |upper: usize, lower: usize| {
                        self.crossings_of(&self.left[upper], &self.left[lower]) + self.crossings_of(&self.right[upper], &self.right[lower])
                    };
                    if crossings(b, a) < crossings(a, b) {
                        self.columns[column].swap(upper - 1, upper);
                        (self.place[a], self.place[b]) = (upper, upper - 1);
                        is_better = true;
                    }
                }
            }
            if !is_better {
                return;
            }
        }
    }

    /// Of the links of two, the first above the second, to the same column.
    fn crossings_of(&self, upper: &[usize], lower: &[usize]) -> usize {
        let places = |of: &[usize]| {
            let mut places: Vec<usize> = of.iter().map(|vertex| self.place[*vertex]).collect();
            places.sort_unstable();
            places
        };
        let (upper, lower) = (places(upper), places(lower));
        let mut above = 0;
        let below_of = |place: &usize| {
            while above < lower.len() && lower[above] < *place {
                above += 1;
            }
            above
        };
        upper.iter().map(below_of).sum()
    }

    /// Of all.
    pub fn crossings(&self) -> usize {
        self.columns.iter().map(|column| self.crossings_behind(column)).sum()
    }

    fn crossings_behind(&self, column: &[usize]) -> usize {
        let most = column.iter().flat_map(|vertex| &self.right[*vertex]).map(|next| self.place[*next] + 1).max().unwrap_or(0);
        // How many of the links so far end at each place, as sums that can be asked for (a Fenwick tree).
        let (mut sums, mut before, mut crossings) = (vec![0; most + 1], 0, 0);
        for vertex in column {
            let mut places: Vec<usize> = self.right[*vertex].iter().map(|next| self.place[*next] + 1).collect();
            places.sort_unstable();
            for place in &places {
                let (mut at, mut not_below) = (*place, 0);
                while at > 0 {
                    not_below += sums[at];
                    at -= at & at.wrapping_neg();
                }
                crossings += before - not_below;
            }
            before += places.len();
            for mut at in places {
                while at <= most {
                    sums[at] += 1;
                    at += at & at.wrapping_neg();
                }
            }
        }
        crossings
    }
}

#[cfg(test)]
mod tests {
    use super::super::layers::layers;
    use super::*;

    fn ordered(count: usize, odd: usize, links: &[(usize, usize)]) -> Columns {
        order(&layers(count, links, odd), links)
    }

    #[test]
    fn what_can_be_drawn_without_a_crossing_is() {
        // Nodes 0, 1, 2 publish 6, 7, 8, which 5, 4, 3 receive.
        let columns = ordered(9, 6, &[(0, 6), (1, 7), (2, 8), (6, 5), (7, 4), (8, 3)]);
        assert_eq!(columns.crossings(), 0);
    }

    #[test]
    fn crossings_are_counted_as_one_does_by_hand() {
        let links = [(0, 2), (0, 3), (1, 2), (1, 3)];
        let mut columns = Columns::new(&layers(4, &links, 2), &links);
        columns.columns = vec![vec![0, 1], vec![2, 3]];
        columns.note_places();
        assert_eq!((columns.crossings(), columns.crossings_of(&[2, 3], &[2, 3])), (1, 1));
        columns.columns = vec![vec![0, 1], vec![3, 2]];
        columns.note_places();
        assert_eq!(columns.crossings(), 1);
    }

    #[test]
    fn a_link_that_passes_columns_has_a_bend_in_each() {
        let columns = ordered(4, 2, &[(0, 2), (2, 1), (1, 3)]);
        assert!(columns.chains.iter().all(|chain| chain.len() == 2));
        let columns = ordered(5, 3, &[(0, 3), (3, 1), (1, 4), (4, 2), (3, 2)]);
        assert_eq!(columns.chains[4], [3, 5, 6, 2]);
        assert_eq!(columns.columns.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 2, 2, 1]);
    }
}
