//! Recordings that are named, or lie in folders that are.

use std::path::PathBuf;

use sinew_bag::Bag;

use crate::failure::{Done, Failure};
use crate::output::{WARN, say, shown};

/// Opens all, one after the other. What cannot be read among others in a folder is told of, and left out: a recorder that was stopped at once leaves an empty file.
pub fn open_all(paths: &[PathBuf], mut each: impl FnMut(Bag) -> Done) -> Done {
    for path in paths {
        let is_folder = path.is_dir();
        let mut is_any_open = false;
        for file in sinew_bag::files(path).map_err(Failure::of)? {
            match Bag::open(&file) {
                Ok(bag) => {
                    is_any_open = true;
                    each(bag)?;
                }
                Err(why) if is_folder => say!("{WARN}warning:{WARN:#} left out: {}", shown(&why.to_string())),
                Err(why) => return Err(Failure::of(why)),
            }
        }
        if !is_any_open {
            return Err(Failure::Failed(format!("{} has no file that can be read", shown(&path.to_string_lossy()))));
        }
    }
    Ok(())
}
