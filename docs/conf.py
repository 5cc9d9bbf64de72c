"""How `make site` makes a site of the pages: Sphinx and MyST, from the repository's root, so that links between files lead to the same place there as on a git host.

The pages stay plain Markdown. What is not in them is here: their order, and what becomes of links to sources and folders (`source_pages`).
"""

import html
import pathlib
import re

from docutils import nodes
from sphinx import addnodes

ROOT = pathlib.Path(__file__).resolve().parent.parent
# In the order of the navigation; a page that is not there is left out.
PAGES = {
    "Start": ["quick-start", "robot", "concepts", "rclcpp", "python"],
    "Tools": ["tools", "launch"],
    "Beyond one machine": ["gateway", "ros2", "ros1", "foxglove"],
    "What was measured": ["reliability", "hazards", "performance"],
    "Inside": ["internals"],
}
# Where a title is too long for it.
SHORT = {"rclcpp": "Porting from rclcpp", "gateway": "Gateway", "ros2": "ROS 2", "ros1": "ROS 1", "reliability": "Reliability", "hazards": "Hazards"}
# What is below it in the navigation: all pages elsewhere in the tree, these first.
INTERNALS, INSIDE = "docs/internals", ["ARCHITECTURE", "SECURITY", "CONTRIBUTING", "CHANGELOG"]
IMAGES = {".svg", ".png"}
LANGUAGES = {".cpp": "c++", ".hpp": "c++", ".c": "c", ".h": "c", ".py": "python", ".pyi": "python", ".rs": "rust", ".json": "json", ".toml": "toml", ".cmake": "cmake"}

project = html_title = "sinew"
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/*.md", "spec/*.md", "**/README.md"]
exclude_patterns = ["build*", ".git", "**/target", "**/node_modules", "bench/results"]
nitpicky = True
myst_heading_anchors = 4
# Rules of JSON may have comments, which Pygments marks as errors.
suppress_warnings = ["misc.highlighting_failure"]
html_theme = "furo"
html_copy_source = html_show_copyright = html_show_sourcelink = html_show_sphinx = html_use_index = False
# A summary would be fetched, which browsers refuse to pages that are files.
html_show_search_summary = False
html_static_path = html_css_files = ["site.css"]


def navigation(app, docname, source):
    """Appends tables of contents to the page that everything begins with, and to the one of what is inside."""
    there = app.env.found_docs
    listed = {f"docs/{page}" for pages in PAGES.values() for page in pages}
    if docname == root_doc:
        for caption, pages in PAGES.items():
            source[0] += tree([f"{SHORT[page]} </docs/{page}>" if page in SHORT else f"/docs/{page}" for page in pages if f"docs/{page}" in there], caption)
    elif docname == INTERNALS:
        others = sorted(there - listed - {root_doc, *INSIDE}, key=lambda name: (not name.startswith("spec/"), name))
        source[0] += tree([f"/{page}" for page in INSIDE] + [f"{name.removesuffix('/README')} </{name}>" if name.endswith("README") else f"/{name}" for name in others])


def tree(pages, caption=""):
    return "\n".join(["", "", "```{toctree}", ":hidden:", *[f":caption: {caption}"] * bool(caption), "", *pages, "```", ""])


def is_source(path):
    return path.is_relative_to(ROOT) and not path.relative_to(ROOT).parts[0].startswith(("build", ".git"))


def linked(app, docname, target):
    """The address of the page of a source file or a folder that `target`, as a page has it, leads to, or None."""
    path = (ROOT / docname).parent.joinpath(target).resolve()
    if not path.exists() or not is_source(path):
        return None
    app.sources.add(path)
    return target.rstrip("/") + ("/index.html" if path.is_dir() else ".html")


def link_to_sources(app, doctree):
    for node in list(doctree.findall(addnodes.download_reference)):
        address = linked(app, app.env.docname, node["reftarget"])
        if address:
            node.replace_self(nodes.reference("", "", *node.children, internal=True, refuri=address))


def link_to_folders(app, env, node, contnode):
    address = linked(app, node["refdoc"], node["reftarget"])
    return nodes.reference("", "", contnode, internal=True, refuri=address) if address else None


def source_pages(app):
    """A page for each file that a page links to, as it is; and one for each folder, with the files in it."""
    folders = {path for path in app.sources if path.is_dir()}
    files = {path for path in app.sources if path.is_file()} | {path for folder in folders for path in folder.iterdir() if path.is_file() and path.suffix in LANGUAGES}
    for folder in sorted(folders):
        name = folder.relative_to(ROOT).as_posix()
        rows = []
        for path in sorted(folder.iterdir()):
            page = "README.html" if path.name == "README.md" else f"{path.name}.html" if path in files else f"{path.name}/index.html" if path in folders else None
            shown = html.escape(path.name) + ("/" if path.is_dir() else "")
            if not path.name.startswith((".", "__")):
                rows.append(f'<li><a href="{page}"><code>{shown}</code></a></li>' if page else f"<li><code>{shown}</code></li>")
        yield f"{name}/index", {"title": f"{name}/", "body": f"<h1>{name}/</h1><ul>{''.join(rows)}</ul>"}, "page.html"
    for path in sorted(files):
        name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8", errors="replace")
        body = text if path.suffix in IMAGES else app.builder.highlighter.highlight_block(text, LANGUAGES.get(path.suffix, "text"))
        yield name, {"title": name, "body": f'<h1>{html.escape(name)}</h1><div class="source">{body}</div>'}, "page.html"


def alone(app, exception):
    """What is left to make a folder of it that needs nothing but itself."""
    if exception is not None:
        return
    # Debian's theme has one style sheet from the place where its web servers have it.
    for sheet in pathlib.Path(app.outdir, "_static").rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        with_imports = re.sub(r"@import url\(/javascript/([^)]+)\);", lambda found: pathlib.Path("/usr/share/javascript", found[1]).read_text(encoding="utf-8"), text)
        if with_imports != text:
            sheet.write_text(with_imports, encoding="utf-8")
    refresh = '<!doctype html><meta charset="utf-8"><title>sinew</title><meta http-equiv="refresh" content="0; url=docs/index.html"><a href="docs/index.html">sinew</a>\n'
    pathlib.Path(app.outdir, "index.html").write_text(refresh, encoding="utf-8")


def setup(app):
    app.sources = set()
    app.connect("source-read", navigation)
    app.connect("doctree-read", link_to_sources, priority=400)  # before what is linked to is taken for a download
    app.connect("missing-reference", link_to_folders)
    app.connect("html-collect-pages", source_pages)
    app.connect("build-finished", alone)
