#!/usr/bin/env bash
# Refuses inputs that are wrong before anything is installed or asked, and says which Python, folders and caches the
# later steps use.
set -euo pipefail

refuse() {
    printf '::error title=adjudge::%s\n' "$1"
    exit 2
}

# What an input holds is not repeated: it may be a command of the log.
[[ $INPUT_UNDECIDED =~ ^(fail|warn)$ ]] || refuse "the input undecided must be fail or warn"
[[ $INPUT_BASELINE =~ ^(true|false)$ ]] || refuse "the input baseline must be true or false"
[[ $INPUT_COMMENT =~ ^(true|false)$ ]] || refuse "the input comment must be true or false"
[[ $INPUT_NAME =~ ^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$ ]] || refuse "the input name must be of letters, digits, . _ and -"
[[ $INPUT_VERSION =~ ^([0-9][0-9A-Za-z.+!-]*)?$ ]] || refuse "the input version must be a version, such as 0.1.0"
[[ $INPUT_EXTRAS =~ ^[a-z0-9,-]*$ ]] || refuse "the input extras must be names with commas between them"

# The Python of the job: an agent that is a function runs in it too.
python=$(command -v python || command -v python3) || refuse "there is no Python: add actions/setup-python before this step"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    refuse "Python 3.11 or newer is needed: add actions/setup-python before this step"

# Packages are the same as long as their names, the Python and the machine are.
packages=$("$python" -c '
import hashlib, pathlib, platform, sys
parts = [pathlib.Path(sys.argv[1]).read_bytes(), platform.platform().encode(), sys.version.encode()]
parts += [one.encode() for one in sys.argv[2:]]
print(hashlib.sha256(b"\0".join(parts)).hexdigest()[:16])
' "$GITHUB_ACTION_PATH/pyproject.toml" "$INPUT_VERSION" "$INPUT_EXTRAS")

{
    printf 'python=%s\n' "$python"
    printf 'folder=%s\n' "$(mktemp -d "$RUNNER_TEMP/adjudge.XXXXXX")"
    printf 'pip-cache=%s\n' "$("$python" -m pip cache dir)"
    printf 'pip-key=adjudge-pip-%s\n' "$packages"
    printf 'replies=%s\n' "${ADJUDGE_CACHE:-$RUNNER_TEMP/adjudge-$INPUT_NAME/replies.sqlite}"
    printf 'replies-key=adjudge-replies-%s-\n' "$INPUT_NAME"
} >>"$GITHUB_OUTPUT"
