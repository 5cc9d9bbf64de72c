//! Where everything is drawn: columns from left to right, as messages go, after Sugiyama.

pub mod layers;
mod order;
mod pack;
mod place;

use layers::layers;
use order::{Columns, order};
use place::{Heights, PORT, Space, place};

/// Columns stand at least so far from each other, and further where links go up and down between them.
const GAP: (f64, f64) = (44.0, 150.0);
const BEND: Space = Space { height: 4.0, margin: 6.0, has_ports: false, is_bend: true };
const MARGIN: f64 = 9.0;

/// A box, of at least this size. Links of nodes begin below each other, and its height has room for them.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// From left to right.
    pub width: f64,
    /// From top to bottom.
    pub height: f64,
}

/// Where a box is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// Its left edge.
    pub x: f64,
    /// Its upper edge.
    pub y: f64,
    /// From left to right.
    pub width: f64,
    /// From top to bottom.
    pub height: f64,
}

/// How a link is drawn: level from the first point of each pair to the second, and bent from one pair to the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// From left to right.
    pub levels: Vec<[(f64, f64); 2]>,
    /// It ends at its left.
    pub goes_back: bool,
}

/// Where everything is.
#[derive(Debug, Default, PartialEq)]
pub struct Layout {
    /// Of all.
    pub width: f64,
    /// Of all.
    pub height: f64,
    /// In the order of the sizes.
    pub boxes: Vec<Place>,
    /// In the order of the links.
    pub curves: Vec<Curve>,
}

/// Draws boxes, of which those before `odd` are nodes, and links between a node and another box. None when it would have more than so many bends and boxes: nobody could read that.
pub fn layout(sizes: &[Size], links: &[(usize, usize)], odd: usize, most: usize) -> Option<Layout> {
    let layers = layers(sizes.len(), links, odd);
    let passed = |(from, to): &(usize, usize)| layers.layer[*from].abs_diff(layers.layer[*to]);
    if sizes.len() + links.iter().map(passed).sum::<usize>() > most {
        return None;
    }
    let parts = pack::parts(sizes.len(), links).into_iter().map(|part| {
        let mut index = vec![0; sizes.len()];
        part.boxes.iter().enumerate().for_each(|(at, of_all)| index[*of_all] = at);
        let own: Vec<(usize, usize)> = part.links.iter().map(|link| (index[links[*link].0], index[links[*link].1])).collect();
        let own_layers = layers::Layers {
            layer: part.boxes.iter().map(|of_all| layers.layer[*of_all]).collect(),
            goes_back: part.links.iter().map(|link| layers.goes_back[*link]).collect(),
        };
        let columns = order(&own_layers, &own);
        let of_own: Vec<Size> = part.boxes.iter().map(|of_all| sizes[*of_all]).collect();
        let is_node: Vec<bool> = part.boxes.iter().map(|of_all| *of_all < odd).collect();
        let drawn = draw(&of_own, &is_node, &columns, &own_layers.goes_back);
        (part, drawn)
    });
    Some(pack::pack(parts.collect(), sizes.len(), links.len()))
}

/// One part, whose boxes are all connected.
fn draw(sizes: &[Size], is_node: &[bool], columns: &Columns, goes_back: &[bool]) -> Layout {
    let mut spaces = vec![BEND; columns.column_of.len()];
    for (at, size) in sizes.iter().enumerate() {
        let links = columns.left[at].len().max(columns.right[at].len()) as f64;
        let height = if is_node[at] { size.height.max(links * PORT + 10.0) } else { size.height };
        spaces[at] = Space { height, margin: MARGIN, has_ports: is_node[at], is_bend: false };
    }
    let heights = place(columns, &spaces, goes_back);
    let top = spaces.iter().zip(&heights.middle).map(|(space, middle)| middle - space.height / 2.0).fold(f64::INFINITY, f64::min);
    let bottom = spaces.iter().zip(&heights.middle).map(|(space, middle)| middle + space.height / 2.0).fold(f64::NEG_INFINITY, f64::max);
    let edges = edges(sizes, columns, &heights);
    let mut boxes = Vec::new();
    for (at, size) in sizes.iter().enumerate() {
        let (left, right) = edges[columns.column_of[at]];
        // Nodes of a column are equally wide, topics as wide as their names.
        let width = if is_node[at] { right - left } else { size.width };
        let height = spaces[at].height;
        boxes.push(Place { x: (left + right - width) / 2.0, y: heights.middle[at] - height / 2.0 - top, width, height });
    }
    let curve = |(link, chain): (usize, &Vec<usize>)| {
        let last = chain.len() - 1;
        let level = |(at, vertex): (usize, &usize)| {
            let (mut left, mut right) = edges[columns.column_of[*vertex]];
            let mut y = heights.middle[*vertex] - top;
            if at == 0 {
                (left, y) = (boxes[*vertex].x + boxes[*vertex].width, y + heights.begins[link]);
            }
            if at == last {
                (right, y) = (boxes[*vertex].x, y + heights.ends[link]);
            }
            [(left, y), (right, y)]
        };
        Curve { levels: chain.iter().enumerate().map(level).collect(), goes_back: goes_back[link] }
    };
    let curves = columns.chains.iter().enumerate().map(curve).collect();
    Layout { width: edges.last().map_or(0.0, |(_, right)| *right), height: bottom - top, boxes, curves }
}

/// Where each column begins and ends.
fn edges(sizes: &[Size], columns: &Columns, heights: &Heights) -> Vec<(f64, f64)> {
    let mut edges = Vec::new();
    let mut x = 0.0;
    for column in &columns.columns {
        if column.is_empty() {
            edges.push((x, x)); // of topics that nobody publishes, which stand alone
            continue;
        }
        let width = column.iter().filter_map(|vertex| sizes.get(*vertex)).map(|size| size.width).fold(0.0, f64::max);
        edges.push((x, x + width));
        let climbs =
            column.iter().flat_map(|from| columns.right[*from].iter().map(|to| (heights.middle[*from] - heights.middle[*to]).abs()));
        x += width + (GAP.0 + climbs.fold(0.0, f64::max) / 4.0).min(GAP.1);
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { width: 100.0, height: 30.0 };

    fn overlap(a: &Place, b: &Place) -> bool {
        a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
    }

    /// Thirty nodes, each of which publishes a topic that three others receive, also backwards.
    fn crowd() -> Vec<(usize, usize)> {
        (0..30)
            .flat_map(|node| {
                [(node, 30 + node), (30 + node, (node + 1) % 30), (30 + node, (node * 7 + 3) % 30), (30 + node, (node + 29) % 30)]
            })
            .collect()
    }

    #[test]
    fn no_box_lies_upon_another_and_all_are_in_the_picture() {
        let drawn = layout(&[SIZE; 60], &crowd(), 30, 10_000).unwrap();
        for (at, one) in drawn.boxes.iter().enumerate() {
            assert!(drawn.boxes[at + 1..].iter().all(|other| !overlap(one, other)), "{one:?}");
            assert!(one.x >= 0.0 && one.y >= 0.0 && one.x + one.width <= drawn.width && one.y + one.height <= drawn.height, "{one:?}");
        }
    }

    #[test]
    fn no_link_passes_through_a_box() {
        let links = crowd();
        let drawn = layout(&[SIZE; 60], &links, 30, 10_000).unwrap();
        for (curve, (from, to)) in drawn.curves.iter().zip(&links) {
            for [(left, y), (right, _)] in &curve.levels {
                let level = Place { x: *left, y: *y, width: right - left, height: 0.0 };
                let hit = drawn.boxes.iter().enumerate().find(|(at, place)| at != from && at != to && overlap(&level, place));
                assert!(hit.is_none(), "{from} to {to} passes {hit:?}");
            }
        }
    }

    #[test]
    fn the_same_graph_is_drawn_the_same() {
        let drawn = || layout(&[SIZE; 60], &crowd(), 30, 10_000).unwrap();
        assert_eq!(drawn(), drawn());
    }

    #[test]
    fn a_graph_that_nobody_could_read_is_not_drawn() {
        assert!(layout(&[SIZE; 60], &crowd(), 30, 100).is_none());
    }

    #[test]
    fn a_chain_is_level() {
        let drawn = layout(&[SIZE; 5], &[(0, 3), (3, 1), (1, 4), (4, 2)], 3, 100).unwrap();
        let heights: Vec<f64> = drawn.curves.iter().flat_map(|curve| &curve.levels).map(|level| level[0].1).collect();
        assert!(heights.iter().all(|y| (y - heights[0]).abs() < 1e-6), "{heights:?}");
    }
}
