#!/usr/bin/env bash
# Ends the job as the check ended: 1 where the gate failed, 3 where it is undecided, 2 where the call is wrong.
set -euo pipefail

if [ -z "$VERDICT" ]; then
    echo "::error title=adjudge::there is no verdict: an earlier step failed, and its log says why"
    exit 3
fi
if [ "$VERDICT" = pass ]; then
    exit 0
fi
if [ "$VERDICT" = undecided ] && [ "$INPUT_UNDECIDED" = warn ]; then
    echo "::warning title=adjudge::undecided: nothing is known about the agent; the summary says why"
    exit 0
fi
case $VERDICT in
fail) why="FAIL: the agent does not pass the gate" ;;
undecided) why="undecided: nothing is known about the agent; the summary says why" ;;
interrupted) why="the check was interrupted" ;;
*) why="the call is wrong; the log of the check says how" ;;
esac
echo "::error title=adjudge::$why (exit code $EXIT_CODE)"
exit "$EXIT_CODE"
