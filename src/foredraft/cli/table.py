"""A table for people, on standard output."""

from collections.abc import Iterable


def print_table(columns: Iterable[str], rows: Iterable[list[str]]) -> None:
    """Print the cells in columns; they may hold Rich's markup."""
    # Rich costs 50 ms to import, which --help and --json need not pay.
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(*row)
    Console(highlight=False).print(table)
