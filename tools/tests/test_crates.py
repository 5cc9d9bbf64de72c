"""That what is compiled of crates of others serves another clone, and what is compiled of our own never does."""

import contextlib
import io
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import crates

LOCK = "# which crates there are\n"


def write(path, text="made", seconds=1_000_000):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (seconds, seconds))


class Shared(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(self.folder / "cache")}))

    def clone(self, name, lock=LOCK):
        """(its workspace, the folder that cargo builds in) of a clone; the folder is not there yet."""
        write(self.folder / name / "rust/Cargo.lock", lock)
        return self.folder / name / "rust", self.folder / name / "build-rust/test"

    def build(self, clone, *files, flags=""):
        """As cargo does: makes the files. What was there before it did."""
        workspace, target = clone
        with crates.shared({"CARGO_TARGET_DIR": str(target), "RUSTFLAGS": flags}, workspace):
            there = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
            for file in files:
                write(target / file)
        return there

    THEIRS = ("debug/.fingerprint/ring-1/lib-ring", "debug/build/ring-1/out/ring.o", "debug/deps/libring-1.rlib", "debug/deps/ring-1.d", "debug/deps/libserde_derive-3.so")
    OURS = ("debug/.fingerprint/sinew-cli-2/bin-sinew", "debug/build/sinew-sys-2/output", "debug/deps/libsinew-2.rlib", "debug/deps/sinew_cli-2.d", "debug/deps/graph-4", "debug/sinew", "debug/examples/load")

    def test_another_clone_finds_the_crates_of_others_as_old_as_they_were_and_none_of_ours(self):
        self.build(self.clone("one"), *self.THEIRS, *self.OURS)
        other = self.clone("other")
        self.assertEqual(self.build(other), set(self.THEIRS))
        self.assertEqual((other[1] / "debug/deps/libring-1.rlib").stat().st_mtime, 1_000_000)

    def test_what_is_compiled_for_a_target_that_was_named_is_found_too(self):
        named = "x86_64-unknown-linux-gnu/" + self.THEIRS[0]
        self.build(self.clone("one"), *self.THEIRS, named)
        self.assertEqual(self.build(self.clone("other")), {*self.THEIRS, named})

    def test_a_clone_that_was_built_in_already_is_left_as_it_is(self):
        self.build(self.clone("one"), *self.THEIRS)
        other = self.clone("other")
        write(other[1] / "debug/sinew")
        self.assertEqual(self.build(other), {"debug/sinew"})

    def test_what_is_built_later_is_added(self):
        one, more = self.clone("one"), ("debug/.fingerprint/clap-5/lib-clap", "debug/deps/libclap-5.rlib")
        self.build(one, *self.THEIRS)
        self.build(one, *more)
        self.assertEqual(self.build(self.clone("other")), {*self.THEIRS, *more})

    def test_with_other_versions_or_flags_nothing_is_found_and_what_was_kept_goes(self):
        for differs in {"lock": LOCK + "another version\n"}, {"flags": "-Cpasses=sancov-module"}:
            with self.subTest(differs):
                self.build(self.clone("one"), *self.THEIRS)
                name = "other" + "".join(differs)
                self.assertEqual(self.build(self.clone(name, differs.get("lock", LOCK)), *self.THEIRS, flags=differs.get("flags", "")), set())
                self.assertEqual(len(list(crates.cache().iterdir())), 1)

    def test_where_there_is_no_room_for_a_copy_it_is_built_all_the_same(self):
        write(self.folder / "cache", "a file, where a folder is to be")
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.build(self.clone("one"), *self.THEIRS)
        self.assertIn("is not a copy", said.getvalue())
        self.assertTrue((self.clone("one")[1] / self.THEIRS[0]).exists())

    def test_of_a_build_that_was_interrupted_nothing_is_kept(self):
        with self.assertRaises(ZeroDivisionError), crates.shared({"CARGO_TARGET_DIR": str(self.clone("one")[1])}, self.clone("one")[0]):
            write(self.clone("one")[1] / self.THEIRS[0])
            raise ZeroDivisionError
        self.assertEqual(self.build(self.clone("other")), set())


if __name__ == "__main__":
    unittest.main()
