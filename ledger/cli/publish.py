"""``ledger render``, ``archive`` and ``verify``: what others read, and how they check it."""

from __future__ import annotations

from pathlib import Path

import click

from ledger import vcs
from ledger.actions.archive import archive as archive_record
from ledger.actions.render import render as render_ledger
from ledger.actions.verify import verify as verify_all
from ledger.cli.output import here, json_option, now, put, put_json, say, tell
from ledger.errors import ExitCode
from ledger.units import number_of
from ledger.verify import Check, Report


@click.command()
@click.option(
    "-o",
    "--out",
    default="dossier",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder for the pages.",
)
@json_option
@click.pass_context
def render(ctx: click.Context, out: Path, as_json: bool) -> None:
    """Write the dossier: an index, and a page with its machine twin for every record; it opens from disk."""
    pages, problems = render_ledger(here(), out, now())
    if as_json:
        put_json(
            {
                "index": str(out / "index.html"),
                "pages": [str(page) for page in pages],
                "problems": [problem.to_dict() for problem in problems],
            }
        )
    else:
        put(str(out / "index.html"))
        say(f"{number_of(len(pages), 'file')} written")
        tell(problems)
    ctx.exit(int(ExitCode.INTEGRITY) if problems else 0)


@click.command()
@click.argument("record_id", metavar="ID")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="The file to write; ID.tar by default.")
@json_option
def archive(record_id: str, out: Path | None, as_json: bool) -> None:
    """Pack ID, its raw inputs and its pages into one file that anyone can check, always the same bytes."""
    ledger = here()
    record = ledger.record(record_id)
    made = archive_record(record, out or Path(f"{record.id}.tar"), vcs.open_repo(ledger.root))
    if as_json:
        put_json({"path": str(made.path), "sha256": made.sha256, "size": made.size, "heads": list(made.heads)})
        return
    put(f"{made.sha256}  {made.path}")
    say(f"{made.size} bytes; publish the sha256, and check it anywhere: ledger verify {made.path}")


@click.command()
@click.argument("subjects", metavar="[ID|ARCHIVE]...", nargs=-1)
@click.option("--head", help="A digest published elsewhere that must be in the record.")
@click.option(
    "--replay-steps",
    type=click.IntRange(1, 1_000_000),
    help="Also have the harness make so many first steps of each counted CPU run again, and compare the losses.",
)
@json_option
@click.pass_context
def verify(
    ctx: click.Context, subjects: tuple[str, ...], head: str | None, replay_steps: int | None, as_json: bool
) -> None:
    """Check records or archives to the last byte: hash again, derive again, compare; every record when none is named.

    --replay-steps runs a plan's own workload where it names one: only for records whose code you would run.

    Exits 0 when everything that was checked holds, 3 when anything was changed, removed, added or forged.
    """
    reports, drafts = verify_all(Path.cwd(), subjects, head, replay_steps)
    beside = [] if subjects else here().stray_files()
    if as_json:
        put_json(
            {
                "verified": all(one.verified for one in reports),
                "reports": [one.to_dict() for one in reports],
                "drafts": drafts,
                **({"beside": beside} if beside else {}),
            }
        )
    else:
        for report in reports:
            _print(report)
        for draft in drafts:
            say(f"{draft} is a DRAFT: there is nothing to verify")
        for name in beside:
            say(f"records/{name} is no record, so nothing vouches for it")
    ctx.exit(0 if all(one.verified for one in reports) else int(ExitCode.INTEGRITY))


def _print(report: Report) -> None:
    put(click.style(report.subject, bold=True))
    for check in report.checks:
        _print_check(check)
    if report.verified:
        left_out = ", ".join(report.left_out)
        put(
            f"{click.style('verified', fg='green', bold=True)}: {report.subject}; head {', '.join(report.heads)}"
            + (f"; not checked: {left_out}" if left_out else "")
        )
    else:
        numbers = ", ".join(str(check.number) for check in report.failed) or "none could be made"
        put(f"{click.style('NOT VERIFIED', fg='red', bold=True)}: {report.subject}; failed checks: {numbers}")


def _print_check(check: Check) -> None:
    colour = {"pass": "green", "fail": "red", "skip": None}[check.verdict]
    verdict = click.style(f"{check.verdict:<4}", fg=colour)
    put(f"  {check.number:>2}  {verdict}  {check.name:<9}  {check.title if check.problems else check.detail}")
    for problem in check.problems:
        for line in problem.to_text().splitlines():
            put(f"            {line}")
