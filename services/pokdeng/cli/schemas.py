"""`pokdeng schemas`: writes the JSON Schemas of all events and the AsyncAPI document, or says which files differ."""

from __future__ import annotations

import json
from pathlib import Path

import click

from pokdeng.wire.asyncapi import FILE_NAME, asyncapi_document
from pokdeng.wire.schemas import event_schemas, schema_file_name


def schema_files() -> dict[str, str]:
    """The text of each file by its name."""
    documents = {schema_file_name(event_type): schema for event_type, schema in event_schemas().items()}
    documents[FILE_NAME] = asyncapi_document()
    return {name: json.dumps(document, indent=2, ensure_ascii=False) + "\n" for name, document in documents.items()}


@click.command("schemas")
@click.option(
    "--check",
    is_flag=True,
    envvar="POKDENG_CHECK",
    show_envvar=True,
    help="Write nothing; name the files that differ, and exit 1 if there are any.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("schemas"),
    show_default=True,
    envvar="POKDENG_OUT",
    show_envvar=True,
    help="The folder of the files.",
)
@click.pass_context
def command(ctx: click.Context, *, check: bool, out: Path) -> None:
    """Write the JSON Schemas of all events and the AsyncAPI document."""
    files = schema_files()
    if not check:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (out / name).write_text(text, encoding="utf-8", newline="\n")
        click.echo(f"{len(files)} files in {out}")
        return
    differing = [name for name, text in files.items() if _read(out / name) != text.encode()]
    for name in differing:
        click.echo(f"{out / name} {'differs' if (out / name).exists() else 'is missing'}")
    if differing:
        click.echo("Write them anew with: pokdeng schemas", err=True)
        ctx.exit(1)


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
