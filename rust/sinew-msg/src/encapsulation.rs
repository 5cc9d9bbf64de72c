//! The first bytes of a message as CDR, which say how the others are to be read.

/// How many they are.
pub const ENCAPSULATION: usize = 4;

/// Makes the encapsulation of a message that of sinew, where it is CDR as ROS 2 has it; whether its numbers begin with their greatest byte, and how long it is without what was added behind it. None: it is something else.
pub fn normalize(message: &mut [u8]) -> Option<(bool, usize)> {
    let whole = message.len();
    let [0, order @ (0 | 1), options @ ..] = message.first_chunk_mut::<ENCAPSULATION>()? else { return None };
    let added = usize::from(options[1] & 3);
    *options = [0, 0];
    Some((*order == 0, whole.checked_sub(added).filter(|size| *size >= ENCAPSULATION)?))
}
