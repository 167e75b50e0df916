"""Which scenarios a check runs."""

import click

SELECTED = ("tags", "only", "exclude", "last_failed")
SELECTION = (
    click.option("--tag", "tags", multiple=True, help="Only scenarios with this tag, or another that is given."),
    click.option("--only", multiple=True, help="Only the scenario with this id, or all of a pattern: 'billing-*'."),
    click.option("--exclude", multiple=True, help="Not the scenario with this id, or all of a pattern."),
    click.option("--last-failed", metavar="RUN", help="Only scenarios that did not pass in this run file."),
)
