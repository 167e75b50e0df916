#!/usr/bin/env bash
# Installs adjudge into the Python of the job: a release, or the checkout that this action is a part of.
set -euo pipefail

extras=${INPUT_EXTRAS:+[$INPUT_EXTRAS]}
if [ -n "$INPUT_VERSION" ]; then
    package="adjudge$extras==$INPUT_VERSION"
else
    package="$GITHUB_ACTION_PATH$extras"
fi
"$PYTHON" -m pip install --quiet --disable-pip-version-check "$package"
