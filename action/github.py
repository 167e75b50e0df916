"""What the action asks of GitHub, with `gh`: the report of the default branch, and a comment on the pull request.

Neither decides anything: what cannot be fetched or posted is a line in the log, with what to do.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adjudge.errors import UsageError, printable
from adjudge.scenarios import load_baseline

# A pull request from a branch that is called like the default branch must not pass for it.
TRUSTED = ("push", "schedule", "workflow_dispatch", "repository_dispatch", "merge_group")
MOST_RUNS = 5  # runs in which a report is looked for
COMMENTS = """
query($owner: String!, $name: String!, $number: Int!, $endCursor: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      comments(first: 100, after: $endCursor) {
        nodes { id body viewerDidAuthor }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}
"""
UPDATE = """
mutation($id: ID!, $body: String!) {
  updateIssueComment(input: {id: $id, body: $body}) { clientMutationId }
}
"""


class GitHubError(Exception):
    """`gh` is not there, or could not do what it was asked for."""


def gh(*arguments: str) -> str:
    """Call `gh` and return what it prints."""
    try:
        done = subprocess.run(["gh", *arguments], capture_output=True, check=False)
    except OSError as error:
        raise GitHubError(f"gh cannot be started: {error.strerror}") from None
    if done.returncode:
        raise GitHubError(done.stderr.decode(errors="replace").strip() or f"gh ended with {done.returncode}")
    return done.stdout.decode(errors="replace")


def read(text: str) -> Iterator[Any]:
    """Give the JSON values of a text: `gh` prints one for each page."""
    decoder = json.JSONDecoder()
    rest = text.strip()
    while rest:
        try:
            value, end = decoder.raw_decode(rest)
        except (ValueError, RecursionError):
            raise GitHubError("gh printed something other than JSON") from None
        yield value
        rest = rest[end:].lstrip()


def say(kind: str, text: str) -> None:
    """Print an annotation; nothing in the text is a command."""
    print(f"::{kind} title=adjudge::{printable(' '.join(text.split()), 500).replace('%', '%25')}")


def fetch_baseline() -> None:
    """Fetch the report of the last run of the default branch that succeeded, and name its file as an output."""
    repository, name = os.environ["GITHUB_REPOSITORY"], os.environ["INPUT_NAME"]
    # owner/name/.github/workflows/gate.yml@refs/heads/main
    workflow = os.environ["GITHUB_WORKFLOW_REF"].partition("@")[0].rpartition("/")[2]
    (about,) = read(gh("api", f"repos/{repository}"))
    of = ("--repo", repository, "--workflow", workflow, "--branch", about["default_branch"], "--status", "success")
    (runs,) = read(gh("run", "list", *of, "--limit", "20", "--json", "databaseId,event"))
    trusted = [one["databaseId"] for one in runs if one["event"] in TRUSTED]
    why = "the default branch has no successful run yet"
    for run in trusted[:MOST_RUNS]:
        folder = Path(os.environ["FOLDER"]) / f"baseline-{run}"
        try:
            gh("run", "download", str(run), "--repo", repository, "--name", name, "--dir", str(folder))
            load_baseline(folder / "report.json")
        except (GitHubError, UsageError) as error:
            why = str(error)
            continue
        with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as outputs:
            outputs.write(f"file={folder / 'report.json'}\n")
        return
    say("notice", f"there is no baseline to compare with: {why}")


def post_comment() -> None:
    """Post the summary on the pull request, or update the comment that an earlier run has posted."""
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_bytes())
    number = event.get("pull_request", {}).get("number")
    if number is None:
        say("notice", "there is no pull request to comment on")
        return
    repository = os.environ["GITHUB_REPOSITORY"]
    owner, _, name = repository.partition("/")
    marker = f"<!-- adjudge: {os.environ['INPUT_NAME']} -->"
    body = Path(os.environ["FOLDER"]) / "comment.md"
    body.write_bytes(f"{marker}\n".encode() + Path(os.environ["SUMMARY"]).read_bytes())
    of = ("-f", f"owner={owner}", "-f", f"name={name}", "-F", f"number={number}")
    pages = read(gh("api", "graphql", "--paginate", "-f", f"query={COMMENTS}", *of))
    comments = [one for page in pages for one in page["data"]["repository"]["pullRequest"]["comments"]["nodes"]]
    # Anybody may write the marker: only a comment of this token's own is updated.
    own = [one["id"] for one in comments if one["viewerDidAuthor"] and one["body"].startswith(marker)]
    if own:
        gh("api", "graphql", "-f", f"query={UPDATE}", "-f", f"id={own[-1]}", "-F", f"body=@{body}")
    else:
        gh("pr", "comment", str(number), "--repo", repository, "--body-file", str(body))


def main() -> None:
    """Do one of the two jobs."""
    if sys.argv[1] == "baseline":
        job, kind, failed = fetch_baseline, "notice", "there is no baseline to compare with"
        need = "actions: read"
    else:
        job, kind, failed = post_comment, "warning", "the summary could not be posted"
        need = "pull-requests: write"
    try:
        job()
    except GitHubError as error:
        say(kind, f"{failed} (the job needs the permission {need}): {error}")
    except (KeyError, TypeError, ValueError, OSError) as error:
        say(kind, f"{failed}: GitHub answered otherwise than expected: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
