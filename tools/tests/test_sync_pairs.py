"""The sentences that tools/sync_pairs.py stands for, each on a small tree of its own."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import sync_pairs

HEADER = """#include <atomic>
struct Box {
  void put(int value);
  int take() const {
    return full_.load(std::memory_order_acquire) ? value_ : 0;  // sync: FULL (with put)
  }
  // pair FULL: who sees it finds the value.
  std::atomic<bool> full_{false};
  std::atomic<int> puts_{0};  // relaxed: only told
  int value_ = 0;
};
"""
SOURCE = """#include "shm/box.hpp"
void Box::put(int value) {
  value_ = value;
  puts_.fetch_add(1, std::memory_order_relaxed);
  full_.store(true, std::memory_order_release);  // sync: FULL (with Box::take)
}
"""
DEKKER = """#include <atomic>
// pair LEFT / RIGHT: each stores its own and then looks at the other's.
std::atomic<bool> left, right;
bool go_left() {
  left.store(true, std::memory_order_seq_cst);  // sync: LEFT (with go_right)
  return right.load(std::memory_order_seq_cst);  // sync: RIGHT (with go_right)
}
bool go_right() {
  right.store(true, std::memory_order_seq_cst);  // sync: RIGHT (with go_left)
  return left.load(std::memory_order_seq_cst);  // sync: LEFT (with go_left)
}
"""


class SyncPairs(unittest.TestCase):
    def violations(self, header=HEADER, source=SOURCE, more=None):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in {"src/shm/box.hpp": header, "src/shm/box.cpp": source, **(more or {})}.items():
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return sync_pairs.Pairs(pathlib.Path(folder)).check()

    def assert_said(self, *parts, **files):
        found = "\n".join(self.violations(**files))
        for part in parts:
            self.assertIn(part, found)

    def changed(self, text, old, new):
        self.assertIn(old, text)
        return text.replace(old, new)

    def test_a_pair_with_both_sides_and_a_description_is_right(self):
        self.assertEqual(self.violations(), [])
        self.assertEqual(self.violations(more={"src/shm/dekker.cpp": DEKKER}), [])

    def test_an_access_with_an_order_has_a_name(self):
        self.assert_said("box.cpp:5: which pair does store() of `full_`", source=self.changed(SOURCE, "  // sync: FULL (with Box::take)", ""))

    def test_a_comment_above_holds_for_a_row_of_accesses_and_not_behind_it(self):
        row = "  full_.store(true, std::memory_order_release);\n"
        above = self.changed(SOURCE, "  full_.store(true, std::memory_order_release);  // sync: FULL (with Box::take)\n", "  // sync: FULL (with Box::take)\n" + row + row)
        self.assertEqual(self.violations(source=above), [])
        self.assert_said("box.cpp:8: which pair", source=self.changed(above, row + row, row + "  value_ = 2;\n" + row))

    def test_the_order_is_said(self):
        self.assert_said("say which order store()", source=self.changed(SOURCE, "true, std::memory_order_release", "true"))

    def test_an_atomic_is_not_used_like_a_plain_variable(self):
        self.assert_said("`full_` is an atomic", source=self.changed(SOURCE, "full_.store(true, std::memory_order_release);", "full_ = true;"))
        self.assert_said("`puts_` is an atomic", source=self.changed(SOURCE, "puts_.fetch_add(1, std::memory_order_relaxed);", "++puts_;"))

    def test_relaxed_says_why(self):
        self.assert_said("why is relaxed enough for `puts_`", header=self.changed(HEADER, "  // relaxed: only told", ""))

    def test_a_pair_has_a_release_and_an_acquire_side(self):
        self.assert_said("FULL has no release side", source=self.changed(SOURCE, "std::memory_order_release);  // sync: FULL (with Box::take)", "std::memory_order_relaxed);  // relaxed: x"))
        self.assert_said("FULL has no acquire side", header=self.changed(HEADER, "acquire) ? value_ : 0;  // sync: FULL (with put)", "relaxed) ? value_ : 0;  // relaxed: x"))

    def test_the_partner_is_a_function_with_the_other_side(self):
        self.assert_said("takes() has nothing of FULL", source=self.changed(SOURCE, "Box::take", "Box::takes"))
        self.assert_said("put() is on the same side of FULL", source=self.changed(SOURCE, "Box::take", "Box::put"))

    def test_a_pair_is_described_once(self):
        self.assert_said("FULL is described nowhere", header=self.changed(HEADER, "  // pair FULL: who sees it finds the value.\n", ""))
        self.assert_said("FULL is described already", more={"spec/shared-memory.md": "| FULL | a | b | why |\n"})
        self.assert_said("nobody has EMPTY", more={"spec/shared-memory.md": "| EMPTY | a | b | why |\n"})

    def test_seq_cst_has_a_reason(self):
        self.assert_said("seq_cst, but FULL is no", source=self.changed(SOURCE, "memory_order_release", "memory_order_seq_cst"))

    def test_both_of_dekker_store_and_look_with_seq_cst(self):
        for weaker in ("left.load(std::memory_order_seq_cst", "left.load(std::memory_order_acquire"), ("right.store(true, std::memory_order_seq_cst", "right.store(true, std::memory_order_release"):
            self.assert_said("LEFT and RIGHT each store and then look", more={"src/shm/dekker.cpp": self.changed(DEKKER, *weaker)})


if __name__ == "__main__":
    unittest.main()
