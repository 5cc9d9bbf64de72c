//! What to say where somebody names a field that is not there.

use crate::signature::quoted;
use crate::types::Structure;

/// As a sentence: "robot/Image has no field 'widht': did you mean 'width'? it has: height, width".
pub(crate) fn unknown_field(structure: &Structure, name: &str) -> String {
    let mut said = format!("{} has no field {}: ", structure.name, quoted(name));
    let names = structure.fields.iter().map(|field| field.name.as_str());
    if let Some(near) = nearest(name, names.clone()) {
        said += &format!("did you mean '{near}'? ");
    }
    let names: Vec<_> = names.collect();
    said + &if names.is_empty() { "it has none".to_owned() } else { format!("it has: {}", names.join(", ")) }
}

/// The name that is most like this one. Nothing where half of the letters or more would be mistaken.
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters: Vec<char> = name.to_lowercase().chars().collect();
    let (distance, near) = names.map(|candidate| (distance(&letters, candidate), candidate)).min_by_key(|(distance, _)| *distance)?;
    (distance * 2 <= letters.len().max(near.chars().count()) && distance < letters.len()).then_some(near)
}

/// Letters to insert, to drop or to replace (Levenshtein).
fn distance(letters: &[char], other: &str) -> usize {
    let mut row: Vec<usize> = (0..=letters.len()).collect();
    for (n, letter) in other.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = n + 1;
        for (m, mine) in letters.iter().enumerate() {
            let replaced = diagonal + usize::from(*mine != letter);
            diagonal = row[m + 1];
            row[m + 1] = replaced.min(row[m] + 1).min(diagonal + 1);
        }
    }
    row[letters.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Type;

    fn said(signature: &str, name: &str) -> String {
        let Type::Structure(structure) = signature.parse().unwrap() else { unreachable!() };
        unknown_field(&structure, name)
    }

    #[test]
    fn the_nearest_field_is_suggested_where_one_is_near() {
        let image = "robot/Image{height:uint32;width:uint32;stamp_ns:uint64;}";
        assert_eq!(said(image, "widht"), "robot/Image has no field 'widht': did you mean 'width'? it has: height, width, stamp_ns");
        assert_eq!(said(image, "stamp"), "robot/Image has no field 'stamp': did you mean 'stamp_ns'? it has: height, width, stamp_ns");
        assert_eq!(said(image, "Width"), "robot/Image has no field 'Width': did you mean 'width'? it has: height, width, stamp_ns");
        assert_eq!(said(image, "data"), "robot/Image has no field 'data': it has: height, width, stamp_ns");
        assert_eq!(said("A{x:uint8;}", "y"), "A has no field 'y': it has: x");
        assert_eq!(said("A{}", "y"), "A has no field 'y': it has none");
    }

    #[test]
    fn what_somebody_named_is_not_put_raw_on_a_terminal() {
        assert_eq!(said("A{}", "\u{1b}[2J"), "A has no field '?[2J': it has none");
    }
}
