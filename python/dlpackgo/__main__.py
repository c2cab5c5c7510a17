"""The command line: python -m dlpackgo."""

import argparse
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m dlpackgo", description="dlpackgo: tensors between Go and Python")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    info = commands.add_parser("info", help="versions, and which installed libraries exchange tensors with dlpackgo")
    form = info.add_mutually_exclusive_group()
    form.add_argument("--markdown", dest="form", action="store_const", const="markdown", help="the table for a page")
    form.add_argument("--json", dest="form", action="store_const", const="json", help="the table with all reasons")
    info.add_argument("--probe", metavar="LIBRARY", help=argparse.SUPPRESS)
    demo = commands.add_parser("demo", help="PCA of real data in Go, from and to NumPy and PyTorch, with a picture")
    demo.add_argument("--output", default="dlpackgo-demo.png", metavar="FILE", help="the PNG to write (%(default)s)")
    given = parser.parse_args(arguments)

    if given.command == "info":
        from . import info as information

        return information.probe(given.probe) if given.probe else information.report(given.form or "text")
    from . import demo as demonstration

    return demonstration.run(given.output)


if __name__ == "__main__":
    raise SystemExit(main())
