#!/usr/bin/env bash
# Starts the agent where a command is given, runs `adjudge check`, and leaves reports, outputs and the exit code for the
# steps after it. It ends well whatever the verdict is: the last step fails the job.
set -uo pipefail

results=$FOLDER/results
mkdir -p "$results" "$(dirname "$ADJUDGE_CACHE")"

options=(--github --run "$FOLDER/check.run")
options+=(--json "$results/report.json" --junit "$results/junit.xml" --markdown "$results/summary.md")
add() {
    if [ -n "$2" ]; then options+=("$1" "$2"); fi
}
add --agent "$INPUT_AGENT"
add --traces "$INPUT_TRACES"
add --judge "$INPUT_JUDGE"
add --gate "$INPUT_GATE"
add --repeat "$INPUT_REPEAT"
add --wait "${INPUT_WAIT:-${INPUT_RUN:+60}}"
add --baseline "$BASELINE"

# The words of a shell without a shell: quotes count, and nothing is expanded.
split='import os, shlex, sys; sys.stdout.write("".join(f"{one}\0" for one in shlex.split(os.environ["INPUT_ARGS"])))'
code=0
if "$PYTHON" -c "$split" >"$FOLDER/args" 2>/dev/null; then
    while IFS= read -r -d '' word; do options+=("$word"); done <"$FOLDER/args"
else
    echo "::error title=adjudge::the input args has a quote without its other half"
    code=2
fi
options+=(--)
while IFS= read -r path; do
    if [ -n "$path" ]; then options+=("$path"); fi
done <<<"$INPUT_SCENARIOS"

agent=
stop_agent() {
    # First politely: it may have traces to flush.
    kill -TERM -- "-$agent" 2>/dev/null
    for _ in {1..50}; do
        kill -0 -- "-$agent" 2>/dev/null || return
        sleep 0.1
    done
    kill -KILL -- "-$agent" 2>/dev/null
}
if [ "$code" -eq 0 ] && [ -n "$INPUT_RUN" ]; then
    set -m # in a process group of its own, which ends as a whole
    bash -c "$INPUT_RUN" >"$FOLDER/agent.log" 2>&1 </dev/null &
    agent=$!
    set +m
    trap stop_agent EXIT
fi

if [ "$code" -eq 0 ]; then
    "$PYTHON" -m adjudge check "${options[@]}"
    code=$?
fi

if [ -n "$agent" ] && [ "$code" -ne 0 ]; then
    # What the agent wrote is shown, and is no command of the log.
    word=$("$PYTHON" -c 'import secrets; print(secrets.token_hex(16))')
    printf '::group::the last lines of the agent\n::stop-commands::%s\n' "$word"
    tail -n 50 "$FOLDER/agent.log" | LC_ALL=C tr -d '\000-\010\013-\037\177'
    printf '\n::%s::\n::endgroup::\n' "$word"
fi

if [ -f "$FOLDER/check.run" ]; then
    "$PYTHON" -m adjudge runs pack "$FOLDER/check.run" --out "$results/check.run" ||
        echo "::warning title=adjudge::the run could not be packed; the other reports are there"
fi

if [ ! -f "$results/summary.md" ]; then
    printf '## ❔ adjudge: no verdict (exit code %s)\n\nThe log of the job says why.\n' "$code" >"$results/summary.md"
    cat "$results/summary.md" >>"$GITHUB_STEP_SUMMARY"
fi

case $code in
0) verdict=pass ;;
1) verdict=fail ;;
2) verdict=error ;;
130 | 143) verdict=interrupted ;;
*) verdict=undecided ;;
esac
{
    printf 'verdict=%s\n' "$verdict"
    printf 'exit-code=%s\n' "$code"
    printf 'summary=%s\n' "$results/summary.md"
    if [ -f "$results/report.json" ]; then printf 'json=%s\n' "$results/report.json"; fi
    if [ -f "$ADJUDGE_CACHE" ]; then printf 'replies=true\n'; fi
} >>"$GITHUB_OUTPUT"
