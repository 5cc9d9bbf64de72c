//! Parts of a graph that have nothing to do with each other, each drawn for itself, and put beside and below each other.

use super::Layout;

/// Boxes that are connected, and their links.
pub struct Part {
    /// Of the whole.
    pub boxes: Vec<usize>,
    /// Of the whole.
    pub links: Vec<usize>,
}

/// Between parts.
const GAP: f64 = 36.0;
/// Parts stand beside each other as far as this, or as the widest of them.
const WIDTH: f64 = 1000.0;

/// The largest first, of equal ones that which has the first box.
pub fn parts(count: usize, links: &[(usize, usize)]) -> Vec<Part> {
    let mut root: Vec<usize> = (0..count).collect();
    fn find(root: &mut [usize], mut vertex: usize) -> usize {
        while root[vertex] != vertex {
            root[vertex] = root[root[vertex]];
            vertex = root[vertex];
        }
        vertex
    }
    for (from, to) in links {
        let (a, b) = (find(&mut root, *from), find(&mut root, *to));
        root[a.max(b)] = a.min(b);
    }
    let mut parts: Vec<Part> = (0..count).map(|_| Part { boxes: Vec::new(), links: Vec::new() }).collect();
    (0..count).for_each(|vertex| parts[find(&mut root, vertex)].boxes.push(vertex));
    links.iter().enumerate().for_each(|(link, (from, _))| parts[find(&mut root, *from)].links.push(link));
    parts.retain(|part| !part.boxes.is_empty());
    parts.sort_by_key(|part| std::cmp::Reverse(part.boxes.len()));
    parts
}

/// Puts them together, in rows.
pub fn pack(drawn: Vec<(Part, Layout)>, boxes: usize, links: usize) -> Layout {
    let widest = drawn.iter().map(|(_, layout)| layout.width).fold(WIDTH, f64::max);
    let mut whole = Layout { boxes: vec![Default::default(); boxes], curves: vec![Default::default(); links], ..Layout::default() };
    let (mut x, mut y) = (0.0, 0.0);
    for (part, layout) in drawn {
        if x > 0.0 && x + layout.width > widest {
            (x, y) = (0.0, whole.height + GAP);
        }
        for (of_whole, mut place) in part.boxes.into_iter().zip(layout.boxes) {
            (place.x, place.y) = (place.x + x, place.y + y);
            whole.boxes[of_whole] = place;
        }
        for (of_whole, mut curve) in part.links.into_iter().zip(layout.curves) {
            curve.levels.iter_mut().flatten().for_each(|(at_x, at_y)| (*at_x, *at_y) = (*at_x + x, *at_y + y));
            whole.curves[of_whole] = curve;
        }
        whole.width = whole.width.max(x + layout.width);
        whole.height = whole.height.max(y + layout.height);
        x += layout.width + GAP;
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_those_that_no_link_connects_the_largest_first() {
        let parts = parts(6, &[(1, 4), (4, 2), (3, 5)]);
        let boxes: Vec<_> = parts.iter().map(|part| part.boxes.as_slice()).collect();
        assert_eq!(boxes, [&[1, 2, 4][..], &[3, 5], &[0]]);
        assert_eq!(parts[0].links, [0, 1]);
    }

    #[test]
    fn they_stand_in_rows() {
        let part = |at| Part { boxes: vec![at], links: vec![] };
        let layout = |width, height| Layout { width, height, boxes: vec![Default::default()], curves: vec![] };
        let whole = pack(vec![(part(0), layout(600.0, 50.0)), (part(1), layout(300.0, 80.0)), (part(2), layout(300.0, 10.0))], 3, 0);
        let places: Vec<_> = whole.boxes.iter().map(|place| (place.x, place.y)).collect();
        assert_eq!(places, [(0.0, 0.0), (636.0, 0.0), (0.0, 116.0)]);
        assert_eq!((whole.width, whole.height), (936.0, 126.0));
    }
}
