"""Build the documentation site into build/site: `make docs`. A broken link, or a page that nobody leads to, fails.

    zensical.toml, docs/*.md     ->  build/site/*.html     pages, search, pictures; no server, no network

Zensical's search loads one small script from the network where a page is opened as a file. Its package is on npm: the
script is put beside the pages instead.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parent.parent
SITE = ROOT / "build" / "site"
SHIM = "https://unpkg.com/iframe-worker/shim"
HOME = "assets/javascripts/iframe-worker.js"


class Page(HTMLParser):
    """What a page leads to, what can be led to on it, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take in one tag."""
        given = dict(attrs)
        self.anchors |= {str(given[name]) for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        place = given.get("src") or (given.get("href") if tag == "link" else None)
        if place:
            self.loads.append(place)


def listed(nav: object) -> set[str]:
    """Return the pages that the navigation leads to."""
    if isinstance(nav, str):
        return {nav}
    inner = nav.values() if isinstance(nav, dict) else nav
    return set().union(*map(listed, inner)) if isinstance(inner, (list, type({}.values()))) else set()


def keep_offline(shim: Path) -> None:
    """Put the script of the search beside the pages."""
    (SITE / HOME).write_bytes(shim.read_bytes())
    for path in SITE.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(SHIM, os.path.relpath(SITE / HOME, path.parent)), encoding="utf-8")


def put_guides_first() -> None:
    """Leave of each page of the Python interface, and of each decision, one entry in the search: its names or title."""
    for path in (SITE / "search.json", SITE / "search.js"):
        before, brace, text = path.read_text(encoding="utf-8").partition("{")
        index, end = json.JSONDecoder().raw_decode(brace + text)
        kept: dict[str, dict[str, Any]] = {}
        for item in index["items"]:
            place = item["location"].partition("#")[0]
            if not place.startswith(("reference/api/", "decisions/")):
                kept[item["location"]] = item
            elif place not in kept:
                kept[place] = {**item, "text": ""}
            else:
                kept[place]["text"] += f" {item['title']}"
        index["items"] = [*kept.values()]
        after = (brace + text)[end:]
        path.write_text(f"{before}{json.dumps(index, ensure_ascii=False)}{after}", encoding="utf-8")


def faults() -> list[str]:
    """Return what is broken: links, anchors, and what is loaded from elsewhere."""
    pages = {path: Page(path) for path in SITE.rglob("*.html")}
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            # The page of errors has addresses from the root of a server.
            if path.name == "404.html":
                continue
            if not target.is_file():
                found.append(f"{path.relative_to(SITE)}: {link} leads nowhere")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{path.relative_to(SITE)}: {link} has no such heading")
        found += [
            f"{path.relative_to(SITE)}: loads {place}" for place in page.loads if re.match(r"(https?:)?//", place)
        ]
    return found


def main() -> int:
    """Build the site and look through it."""
    config = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    there = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    lost = [f"{page} is not in the navigation of zensical.toml" for page in sorted(there - listed(config["nav"]))]
    program = Path(sys.executable).with_name("zensical")
    done = subprocess.run([program, "build", "--strict", "--clean"], cwd=ROOT, check=False)
    if done.returncode:
        return done.returncode
    keep_offline(Path(sys.argv[1]))
    put_guides_first()
    found = [*lost, *sorted(set(faults()))]
    print("\n".join([*found, f"{len(there)} pages, {len(found)} faults: {(SITE / 'index.html').relative_to(ROOT)}"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
