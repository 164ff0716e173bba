"""Dead letters as people see them. No card of a round before its betting is closed. Rendering only."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pokdeng.cli.rounds_words import LABEL, WARNING, clock, counted, short_topic
from pokdeng.history.story_json import json_of_letter

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pokdeng.history.letter_search import Listed
    from pokdeng.history.letters import Letter

HIDDEN = "hidden: it may show a card of a round whose betting is not known to be closed"


def list_view(listed: Listed) -> RenderableType:
    """Counts by reason, then the letters, the newest last."""
    total = listed.by_reason.total()
    if not total:
        done = f" {counted(listed.done, 'one was', 'were')} dealt with: --all." if listed.done else ""
        return Text(f"No dead letters.{done}", style="green3")
    counts = Table.grid(padding=(0, 2))
    for (reason, topic), count in listed.by_reason.most_common():
        counts.add_row(Text(f"{count:>7,}", style="bold"), Text(reason, style=WARNING), short_topic(topic))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style=LABEL, show_edge=False, pad_edge=False)
    for name in ("letter", "said", "reason", "type", "record", "key", "why"):
        table.add_column(name, no_wrap=name != "why", overflow="fold")
    for letter in listed.letters:
        info = letter.info
        done = "" if letter.action is None else f"   {letter.action.action.value} by {letter.action.by}"
        table.add_row(
            _place(letter),
            clock(letter.record.timestamp, has_date=True).removesuffix(" UTC"),
            Text(info.reason.value, style=WARNING),
            (letter.event_type or "").replace("_", " "),
            f"{short_topic(info.topic)} {info.partition}:{info.offset}",
            letter.shown_key,
            Text.assemble((info.detail, LABEL), (done, "green3")),
        )
    shown = len(listed.letters)
    foot = (
        f"the newest {shown:,} of {total:,}: --limit shows more"
        if shown < total
        else counted(total, "letter", "letters")
    )
    done = f"; {listed.done:,} more were dealt with: --all" if listed.done else ""
    return Padding(Group(counts, Text(), table, Text(), Text(f"{foot}{done}. Times are UTC.", style=LABEL)), (0, 1))


def letter_view(letter: Letter, *, is_shown: bool) -> RenderableType:
    """One letter, with its value and headers where these may be shown."""
    info, action = letter.info, letter.action
    table = Table.grid(padding=(0, 2))
    table.add_column(style=LABEL, no_wrap=True)
    rows: list[tuple[str, str | Text]] = [
        ("letter", _place(letter)),
        ("reason", Text(info.reason.value, style=WARNING)),
        ("why", info.detail),
        ("record", f"{info.topic} {info.partition}:{info.offset}"),
        ("appended", clock(info.timestamp_ms, has_date=True)),
        ("said", clock(letter.record.timestamp, has_date=True)),
        ("key", letter.shown_key),
    ]
    if action is not None:
        note = f": {action.note}" if action.note else ""
        rows.append((action.action.value, f"by {action.by}{note}"))
    if info.original_headers:
        names = ", ".join(
            f"{name}={value.decode(errors='replace')}" if is_shown else name for name, value in info.original_headers
        )
        rows.append(("headers", names))
    rows.append(("value", _value(letter, is_shown=is_shown)))
    for row in rows:
        table.add_row(*row)
    return Padding(table, (0, 1))


def json_of_letter_whole(letter: Letter, *, is_shown: bool) -> dict[str, Any]:
    """The same for programs; `value` is a text, or null with `hidden` true."""
    value = letter.record.value
    return json_of_letter(letter) | {
        "hidden": not is_shown,
        "value": None if value is None or not is_shown else value.decode(errors="replace"),
        "headers": [
            {"name": name, "value": data.decode(errors="replace") if is_shown else None}
            for name, data in letter.info.original_headers
        ],
    }


def _value(letter: Letter, *, is_shown: bool) -> Text:
    value = letter.record.value
    if value is None:
        return Text("none (a tombstone)", style=LABEL)
    if not is_shown:
        return Text(f"{len(value):,} bytes, {HIDDEN}", style=LABEL)
    if letter.info.is_truncated:
        return Text(f"gone, the broker refused it: {value.decode(errors='replace')}", style=LABEL)
    if letter.about:
        return Text(json.dumps(letter.about, indent=2, ensure_ascii=False))
    return Text(value.decode(errors="replace"))


def _place(letter: Letter) -> str:
    return f"{letter.record.partition}:{letter.record.offset}"
