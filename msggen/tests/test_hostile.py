"""Definitions may come from anybody: whatever they are, what reads them ends soon, with an interface or a complaint."""

import random
import unittest

from reading import Case

from sinew_msggen import cpp, parse
from sinew_msggen.definition import PRIMITIVES, Dialect
from sinew_msggen.errors import DefinitionError
from sinew_msggen.resolve import Definitions
from sinew_msggen.rihs01 import type_hash
from sinew_msggen.schema import schema
from sinew_msggen.signature import signature

SEED = 9
TIMES = 500
WORDS = [*PRIMITIVES, "std_msgs/Header", "Header", "A", "time", "[]", "[3]", "[<=3]", "[4294967295]", "<=5", "x", "y1", "X", "=", "-1", "0xff", "1e999", "nan", '"', "'", "\\", "\\x", "\\u12",
         "#", "---", "\n", "\n", "\n", " ", " ", "\t", "\r\n", ",", "[", "]", "[1, 2]", "[true]", "/", "\0", "\u202e", "\u00e4", "9" * 100, "class", "_", "@", "="]  # fmt: skip


class Hostile(Case):
    def consume(self, content, kind="msg", dialect=Dialect.ROS2):
        """Everything that is done with a definition; returns whether it is one."""
        folder = self.folder
        path = folder / f"p/{kind}/A.{kind}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        definitions = Definitions([folder], dialect)
        name = f"p/{kind}/A"
        try:
            [*_, interface] = definitions.in_order([name])
        except DefinitionError as error:
            self.assertTrue(str(error).startswith((f"{folder}/p/", "p/msg/A")), error)
            return False
        for action in [lambda: cpp.header(interface)] + [lambda each=each, what=what: what(each.name, definitions) for each in interface.structures for what in (schema, signature, type_hash)]:
            try:
                action().encode()
            except DefinitionError as error:
                self.assertTrue(str(error))
        return True

    def setUp(self):
        self.folder = self.folder_with({})
        self.random = random.Random(SEED)

    def test_bytes_are_read_or_complained_about(self):
        for _ in range(TIMES):
            self.consume(self.random.randbytes(self.random.randrange(60)), self.random.choice(["msg", "srv", "action"]))

    def test_words_of_definitions_in_any_order_are_read_or_complained_about(self):
        read = 0
        for _ in range(TIMES):
            text = "".join(self.random.choice(WORDS) for _ in range(self.random.randrange(12)))
            read += self.consume(text.encode(), self.random.choice(["msg", "srv"]), self.random.choice(list(Dialect)))
        self.assertGreater(read, TIMES // 100)

    def test_lines_nearly_as_they_should_be_are_read_or_complained_about(self):
        read = 0
        for _ in range(TIMES):
            base, name, value = self.random.choice(WORDS), self.random.choice(["x", "X", "", "a b"]), "".join(self.random.choice(WORDS) for _ in range(3))
            text = f"{base}{self.random.choice(['', '[]', '[3]', '<=5', '<=2[<=1]'])} {name}{self.random.choice(['', '=', ' = ', ' '])}{self.random.choice(['', value])}"
            read += self.consume(text.encode(), "msg", self.random.choice(list(Dialect)))
        self.assertGreater(read, TIMES // 50)

    def test_definitions_with_bytes_changed_are_read_or_complained_about(self):
        for name in Definitions().names()[::5]:
            package, kind, base = name.split("/")
            content = bytearray(Definitions().find(name).read_bytes())
            for _ in range(10):
                for _ in range(self.random.randrange(4)):
                    content[self.random.randrange(len(content)) : self.random.randrange(len(content) + 1)] = self.random.choice(WORDS).encode() if content else b""
                    content = content or bytearray(b"\n")
                self.consume(bytes(content[:4000]), kind)

    def test_long_texts_of_one_kind_take_no_longer_than_others(self):
        long = 2**19
        for text in (
            "uint8 x [" + "[" * long, "string x \"" + "\\" * long, "string[] x [" + "\"a\"," * (long // 4) + "]", "string x " + "'" * long, "#" * long, "-" * long, "uint8 " + " " * long + "x",
            "A" * long + " x", "uint8 X_" + "A_" * (long // 2), "uint8[" * (long // 6), "uint8 x\n" * (long // 8), "/" * long, "int32[] x [" + "1," * (long // 2) + "1]", "float64 X=" + "1" * long + "e5",
            "string X=\"" + "a\\" * (long // 2) + "\"", " #\n" * (long // 3), "\n" * long, "uint8 a\n" + "  # b\n" * (long // 6),
        ):  # fmt: skip
            with self.subTest(text=text[:20]):
                self.consume(text.encode())

    def test_many_fields_and_constants_are_read(self):
        text = "".join(f"uint8 x{number}\nuint8 X{number}=1\n" for number in range(20000))
        self.assertTrue(self.consume(text.encode()))

    def test_files_that_refer_to_one_another_in_whatever_way_are_read_or_complained_about(self):
        for _ in range(200):
            count = self.random.randrange(1, 12)
            for number in range(count):
                fields = "".join(f"A{self.random.randrange(count + 1)}{self.random.choice(['', '[]', '[3]', '[4000000000]'])} f{n}\n" for n in range(self.random.randrange(4)))
                (self.folder / "p/msg").mkdir(parents=True, exist_ok=True)
                (self.folder / f"p/msg/A{number}.msg").write_text(fields)
            self.consume(b"A0 a\nA1[] b")

    def test_names_that_are_none_are_complained_about(self):
        for _ in range(TIMES):
            name = "".join(self.random.choice(["/", "msg", "srv", "A", "_Request", "..", "\0", "\n", "std_srvs", "SetBool", "std_srvs/srv/SetBool", "_Response", " ", "\u0661"]) for _ in range(self.random.randrange(7)))
            for what in schema, signature, type_hash:
                try:
                    what(name, Definitions())
                except DefinitionError as error:
                    self.assertTrue(str(error))

    def test_texts_are_read_without_a_file_too(self):
        with self.assertRaises(DefinitionError):
            parse.parse("\0", "p", "msg", "A")


if __name__ == "__main__":
    unittest.main()
