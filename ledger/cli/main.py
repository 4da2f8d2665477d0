"""The program's list of commands, and the one place where errors become exit codes.

A command's module is imported only when that command is asked for.
"""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import click

from ledger import __version__
from ledger.cli.output import fail, say
from ledger.errors import EXIT_MEANINGS, ExitCode, InputError, LedgerError
from ledger.store import fault

COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("start", "Make this folder a ledger."),
    "draft": ("start", "Start a record: a plan file from a template."),
    "check": ("plan", "Say all that is wrong with a plan, with lines."),
    "simulate": ("simulate", "Say how well a plan can tell what it asks."),
    "freeze": ("plan", "Make a plan immutable."),
    "run": ("run", "Run a frozen ladder with the bundled harness."),
    "ingest": ("evidence", "Take run files in."),
    "decide": ("evidence", "Let the frozen rule decide."),
    "gate": ("evidence", "Answer a merge gate: 0 yes, 10 no, 20 unknown."),
    "amend": ("later", "Amend a frozen plan by named fields."),
    "fire": ("later", "Fire a contingency that the plan declared, if it is called for."),
    "deviate": ("later", "Tell what was done otherwise than planned."),
    "follow-up": ("later", "Say that a follow-up which a decision obliges was done."),
    "withdraw": ("later", "Withdraw a record; it stays as a tombstone."),
    "export-amendment": ("later", "Carry a result into the record it feeds."),
    "calibration": ("calibration", "How well predictions came true."),
    "status": ("look", "Every record at a glance."),
    "show": ("look", "One record in full."),
    "log": ("look", "A record's entries, with full digests."),
    "render": ("publish", "Write the dossier pages."),
    "archive": ("publish", "Pack a record into one file."),
    "verify": ("publish", "Check records or archives to the last byte."),
    "schema": ("look", "Print a JSON Schema."),
}

EPILOG = "Exit codes: " + "; ".join(f"{int(code)} {meaning}" for code, meaning in EXIT_MEANINGS.items()) + "."


class Commands(click.Group):
    """Commands by name, each imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the work."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, or None."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"ledger.cli.{COMMANDS[cmd_name][0]}")
        command = getattr(module, cmd_name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_) for name, (_, help_) in COMMANDS.items()])


@click.group(cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="ledger %(version)s")
def cli() -> None:
    """Pre-register performance experiments, freeze them, let the frozen rule decide, publish what anyone can check."""


def run(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave the process with the right exit code; no traceback reaches a user."""
    asked = list(sys.argv[1:] if args is None else args)
    _speak_any_language()
    try:
        code = _code_of(asked)
    except (BrokenPipeError, SystemExit):
        # Whoever read the output has gone (ledger log ID | head), which click tells by SystemExit; there is nobody left
        # to tell. As of a program that the signal ends: never 0, which would say that what was asked holds.
        code = 128 + signal.SIGPIPE
    except OSError:  # the error could not be told either
        code = ExitCode.ENVIRONMENT
    _let_go_of_output()
    sys.exit(int(code))


def _code_of(asked: Sequence[str]) -> int:
    """The exit code of one command line, its output written and its error told."""
    as_json = "--json" in asked
    if not asked:  # no fault to tell: whoever types the bare name wants to know what there is
        say(cli.get_help(click.Context(cli, info_name="ledger", **cli.context_settings)))
        return ExitCode.INPUT
    try:
        code = cli.main(list(asked), prog_name="ledger", standalone_mode=False)
        if sys.stdout is not None:  # closed by the caller: ledger verify >&-
            sys.stdout.flush()
        return int(code or 0)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.ClickException as error:
        return fail(_usage(error, asked), as_json=as_json)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted; what was finished is kept", err=True)
        return 130
    except LedgerError as error:
        return fail(_or_gone(error, asked), as_json=as_json)
    except BrokenPipeError:
        raise
    except OSError as error:
        return fail(fault(error, error.filename or "-", "reach a file, a folder or the output"), as_json=as_json)
    except Exception as error:
        if os.environ.get("LEDGER_DEBUG"):
            raise
        return _internal(error, as_json=as_json)


def _let_go_of_output() -> None:
    """Output that cannot be written any more is dropped, lest the interpreter fail on it at its very end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _speak_any_language() -> None:
    """A terminal that cannot show a character gets its escape, not an error; so do file names that are no text."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _usage(error: click.ClickException, asked: Sequence[str]) -> InputError:
    """A command line that does not read, in the one shape that every error has."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    name = ctx.command_path if ctx else "ledger"
    return InputError(
        "usage",
        error.format_message(),
        expected=" ".join(ctx.get_usage().split()).removeprefix("Usage: ") if ctx else None,
        found=" ".join(["ledger", *asked]),
        hint=f"{name} --help",
    )


def _or_gone(error: LedgerError, asked: Sequence[str]) -> LedgerError:
    """A record that git holds and the disk does not is not one that never was."""
    code = error.problem.code
    if code not in ("no_such_record", "no_records"):
        return error
    from ledger.actions.gone import named_and_gone

    return named_and_gone(Path.cwd(), asked if code == "no_such_record" else None) or error


def _internal(error: Exception, *, as_json: bool) -> ExitCode:
    return fail(
        LedgerError(
            "internal",
            f"internal error: {type(error).__name__}: {error}",
            expected="no such thing: this is a fault in the program",
            hint="set LEDGER_DEBUG=1 to see where, and report it",
        ),
        as_json=as_json,
    )
