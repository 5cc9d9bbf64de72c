//! Recordings that are named, or lie in folders that are.

use std::path::PathBuf;

use rustix::io::Errno;
use sinew_bag::{Bag, BagError};

use crate::failure::{Done, Failure};
use crate::output::{WARN, say, shown};

/// Opens all, one after the other. What is no recording among others in a folder is told of, and left out: a recorder that was stopped at once leaves an empty file.
/// A file that cannot be read would be missed: that is a failure, told when the others of its folder were opened.
pub fn open_all(paths: &[PathBuf], mut each: impl FnMut(Bag) -> Done) -> Done {
    for path in paths {
        let is_folder = path.is_dir();
        let (mut is_any_open, mut failure) = (false, None);
        for file in sinew_bag::files(path).map_err(Failure::of)? {
            match Bag::open(&file) {
                Ok(bag) => {
                    is_any_open = true;
                    each(bag)?;
                }
                Err(why) if is_folder && is_no_recording(&why) => {
                    say!("{WARN}warning:{WARN:#} left out: {}", shown(&why.to_string()));
                }
                Err(why) => {
                    failure.get_or_insert_with(|| unreadable(&why, is_folder));
                }
            }
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        if !is_any_open {
            return Err(Failure::Failed(format!("{} has no file that can be read", shown(&path.to_string_lossy()))));
        }
    }
    Ok(())
}

/// Whether it can be read, but is none. A folder is none, whatever its name.
fn is_no_recording(why: &BagError) -> bool {
    errno(why).is_none_or(|errno| errno == Errno::ISDIR)
}

/// Why, and what to do.
fn unreadable(why: &BagError, is_of_folder: bool) -> Failure {
    let remedy = match (errno(why) == Some(Errno::MFILE), is_of_folder) {
        (true, _) => ": raise the limit (`ulimit -n`), or name fewer files",
        (false, true) => ": name the other files to do without it",
        (false, false) => "",
    };
    Failure::of(format!("{why}{remedy}"))
}

fn errno(why: &BagError) -> Option<Errno> {
    why.errno().map(Errno::from_raw_os_error)
}
