#!/usr/bin/env python3
"""The pages of docs/ as a site: it is made without a warning, its links lead somewhere, and who reads it needs no network.

Run by `make test`; by hand: tests/site/test_site.py [-v]. Takes seconds; `tools/setup site` installs what it needs.
"""

import html.parser
import pathlib
import re
import shutil
import sys
import tempfile
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import diagrams
import make_site


def setUpModule():
    global site
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sinew-"))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    site = folder / "site"
    status, output = make_site.make(site)
    if status or output:
        raise AssertionError(f"the site was made with status {status}:\n{output}")


class Page(html.parser.HTMLParser):
    """What a page loads by itself, where its links lead, and what they can lead to."""

    def __init__(self, path):
        super().__init__()
        self.loaded, self.links, self.ids = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.add(attributes.get("id"))
        if tag == "a":
            self.links.append(attributes.get("href"))
        elif tag == "link" and attributes.get("rel") in ("search", "index", "next", "prev"):
            self.links.append(attributes["href"])
        elif tag == "link":
            self.loaded.append(attributes["href"])
        self.loaded += [attributes[name] for name in ("src", "srcset", "data") if attributes.get(name)]
        self.loaded += re.findall(r"url\(([^)]+)\)", attributes.get("style") or "")


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pages = {path: Page(path) for path in site.rglob("*.html")}

    def test_has_every_page_of_docs_in_its_navigation(self):
        contents = (site / "docs/index.html").read_text()
        for path in (ROOT / "docs").glob("*.md"):
            self.assertTrue((site / "docs" / f"{path.stem}.html").exists(), path)
            if path.stem != "index":
                self.assertRegex(contents, rf'class="toctree-l1[^"]*"><a class="reference internal" href="{path.stem}\.html"', f"docs/conf.py does not say where in the navigation {path.name} is")

    def test_loads_nothing_from_the_network(self):
        for path, page in self.pages.items():
            for address in page.loaded:
                self.assertFalse(urllib.parse.urlsplit(address).scheme not in ("", "data") or address.startswith("/"), f"{path} loads {address}")
                if not address.startswith("data:"):
                    self.assertTrue((path.parent / urllib.parse.unquote(urllib.parse.urlsplit(address).path)).exists(), f"{path} loads {address}")
        for path in site.rglob("*.css"):
            for address in re.findall(r"(?:@import|url\()\s*['\"]?([^'\")\s]+)", path.read_text()):
                self.assertFalse(re.match(r"(\w+:)?//|/|http", address), f"{path} loads {address}")
        for path in site.rglob("*.js"):
            self.assertIsNone(re.search(r"(fetch|importScripts|\bimport)\(\s*['\"`](\w+:)?//", path.read_text()), path)

    def test_every_link_within_it_leads_to_something(self):
        for path, page in self.pages.items():
            for link in page.links:
                if not link or urllib.parse.urlsplit(link).scheme:
                    continue
                name, _, anchor = urllib.parse.unquote(link).partition("#")
                there = (path.parent / name.partition("?")[0]).resolve() if name else path
                self.assertTrue(there.exists(), f"{path} links to {link}")
                if anchor:
                    self.assertIn(anchor, self.pages[there].ids, f"{path} links to {link}")

    def test_is_searched_without_a_server(self):
        """The index is a script, which pages that are files may load, and has words of the pages."""
        self.assertIn('src="searchindex.js"', (site / "search.html").read_text())
        index = (site / "searchindex.js").read_text()
        self.assertTrue(index.startswith("Search.setIndex("))
        for word in "docs/quick-start", "docs/concepts", "spec/wire":
            self.assertIn(f'"{word}"', index)


class Diagrams(unittest.TestCase):
    def test_in_docs_are_what_the_command_draws(self):
        for name, picture in diagrams.pictures().items():
            self.assertEqual((ROOT / "docs" / name).read_text(), picture, f"docs/{name} is not what tools/diagrams.py draws")


if __name__ == "__main__":
    unittest.main()
