"""The report: one page in Markdown, and the same in HTML with all plots in it, so that it can be sent as one file."""
import base64
import html
import re

import markdown

from compare import rounds, tables
from compare.systems import OBJECT

STYLE = """body { font: 15px/1.5 system-ui, sans-serif; max-width: 1200px; margin: 2em auto; padding: 0 1em; color: #17202a }
table { border-collapse: collapse; font-size: 12px; margin: 1em 0; display: block; overflow-x: auto } th, td { border: 1px solid #d5d8dc; padding: 3px 8px; text-align: left }
tr:nth-child(even) { background: #f8f9f9 } img { max-width: 100% } blockquote { border-left: 3px solid #c0392b; margin-left: 0; padding-left: 1em; color: #566573 }
nav { columns: 2; font-size: 13px }"""


def in_markdown(all_results, peers, chosen, facts, how):
    """`peers` are the names of those that are judged, `facts` of the machine, `how` it was measured."""
    titles = {system.name: system.title for system in chosen}
    lines = ["# sinew beside other systems", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()] + [f"- {line}" for line in how]
    lines += ["", "| system | version | a message is |", "|---|---|---|"]
    lines += [f"| {system.title} | {system.version if not system.missing else 'not measured: ' + system.missing} | {system.carries} |" for system in chosen]
    lines += ["", "A figure is the median of the rounds, in brackets the interval in which the true median lies (95 %, where there are six rounds or more; of fewer the smallest and the largest). Ratios are taken within a round.",
              "", "## Where sinew stands", *tables.verdict_lines(all_results, peers, titles)]
    objects = [system.name for system in chosen if system.name in peers and system.carries == OBJECT]
    lines += [line for results in all_results if results.experiment.name == "sm2_rate" for line in tables.limit_lines(results, objects, titles)]
    for results in all_results:
        if not results.rows and not results.failed:
            continue
        experiment = results.experiment
        lines += [*heading(experiment), "", f"![{experiment.title}](plots/{experiment.name}.png)", *tables.of_experiment(results)]
        if results.failed:
            lines += ["", "Failed:", "", *(f"- {rounds.where(row)}: {row['failed']}" for row in results.failed)]
    return "\n".join(lines) + "\n"


def heading(experiment):
    lines = ["", f"## {experiment.title}", "", f"After {experiment.source}."]
    return lines + (["", *(f"> {line}  " for line in experiment.quoted)] if experiment.quoted else [])


def of_extras(further, rows):
    lines = []
    for extra in further:
        these = [row for row in rows if row.get("extra") == extra.name]
        if these:
            lines += [*heading(extra), *(line.replace("## ", "### ") for line in extra.lines([row for row in these if "failed" not in row]))]
            lines += [f"- failed: round {row['round'] + 1}, {row['command']}: {row['failed']}" for row in these if "failed" in row]
    return "\n".join(lines) + "\n"


def in_html(text, folder):
    """`text` in Markdown, whose pictures lie in the folder."""
    made = markdown.Markdown(extensions=["tables", "toc"], extension_configs={"toc": {"toc_depth": "2-2"}})
    body = made.convert(text)

    def inline(match):
        picture = folder / match[1]
        return f'src="data:image/png;base64,{base64.b64encode(picture.read_bytes()).decode()}"' if picture.exists() else match[0]

    body = re.sub(r'src="([^":]+\.png)"', inline, body)
    title = html.escape(text.splitlines()[0].lstrip("# "))
    return f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style></head>\n<body><nav>{made.toc}</nav>\n{body}</body></html>\n'
