//! What lies beside the library where it is installed.

use std::path::{Path, PathBuf};

/// Those that come with sinew, below its prefix.
const DEFINITIONS: &str = "share/sinew/msggen/definitions";

/// The folder of `libsinew.so`, as this process has mapped it. None: it is part of the program.
pub fn library_folder() -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let path = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..])).find(|path| path.contains("/libsinew.so"))?;
    Path::new(path).parent().map(Path::to_path_buf)
}

/// Folders with definitions of ROS 2, for the `Library` of `msg::ros2`, in the order in which they are asked: these, those of an installation of ROS 2 (`AMENT_PREFIX_PATH`), and what comes with sinew.
pub fn definition_folders(definitions: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders = definitions.to_vec();
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&prefixes).map(|prefix| prefix.join("share")));
    let own = library_folder();
    folders
        .extend(own.iter().flat_map(|library| library.ancestors()).map(|prefix| prefix.join(DEFINITIONS)).find(|folder| folder.is_dir()));
    folders
}
