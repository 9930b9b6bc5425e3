"""``gategrammar spec``: the written specification, whole or one section."""

import click

from gategrammar.cli._terminal import write_line


@click.command
@click.argument("section", required=False)
def command(section: str | None) -> None:
    """Print the specification, or one SECTION of it, named by number ("4.1") or title.

    On a terminal it is laid out and its examples are numbered; elsewhere it is printed as it is written, in Markdown.
    """
    from rich.console import Console
    from rich.markdown import Markdown

    from gategrammar.spec import load

    spec = load()
    start, end = 0, len(spec.text)
    if section is not None:
        wanted = section.strip("` ").casefold()
        found = next((s for s in spec.sections if wanted in (s.number.casefold(), s.title.strip("`").casefold())), None)
        if found is None:
            known = "\n".join(f"{'  ' * (s.level - 1)}{s.number}  {s.title}" for s in spec.sections)
            raise click.UsageError(f"the specification has no section {section!r}; it has these:\n{known}")
        start, end = found.start, found.end
    console = Console()
    if console.is_terminal:
        console.print(Markdown(spec.numbered(start, end)))
    else:
        write_line(spec.text[start:end].rstrip("\n"))
