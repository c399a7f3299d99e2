#!/bin/sh
# Goal: scripts decide correctly before they build anything. Method: stand-ins for the programs they
# call.
#   scripts_test.sh ROOT
set -eu
scripts=$1/scripts
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

failed=0
expect() {
    # expect WHAT WANTED FOUND
    [ "$2" = "$3" ] || { printf '%s: wanted "%s", found "%s"\n' "$1" "$2" "$3" >&2; failed=1; }
}
stand_in() {
    printf '#!/bin/sh\n%s\n' "$2" >"$folder/$1"
    chmod 755 "$folder/$1"
}

jobs_of() {
    stand_in nproc "echo $1"
    echo "MemAvailable: $2 kB" >"$folder/meminfo"
    env -u JOBS PATH="$folder:$PATH" "$scripts/jobs" "$folder/meminfo"
}
# A container's limit may be lower than these values.
if [ ! -e /sys/fs/cgroup/memory.max ]; then
    expect 'jobs, many cores and much memory' 8 "$(jobs_of 8 64000000)"
    expect 'jobs, many cores and 4 GB' 2 "$(jobs_of 8 4000000)"
fi
expect 'jobs, 1 GB' 1 "$(jobs_of 8 800000)"
expect 'jobs, too little for one' 1 "$(jobs_of 8 300000)"
expect 'jobs, one core' 1 "$(jobs_of 1 64000000)"
expect 'jobs, as JOBS says' 7 "$(JOBS=7 "$scripts/jobs")"

# Only cmake is installed, and the user is not root.
stand_in dpkg-query 'echo cmake=installed; echo sqlite3=config-files; exit 1'
stand_in id 'echo 1000'
stand_in sudo 'exit 1'
stand_in apt-get 'echo "apt-get was run" >&2; exit 1'
status=0
printf 'ID=debian\nVERSION_ID=13\n' >"$folder/os-release"
export OS_RELEASE="$folder/os-release"
said=$(PATH="$folder:$PATH" "$scripts/install-deps" 2>&1 </dev/null) || status=$?
expect 'install-deps without root: status' 1 "$status"
line=$(printf '%s\n' "$said" | grep 'apt-get' || true)
expect 'install-deps without root: begins with' '    apt-get update && apt-get install -y' \
    "$(printf '%.40s' "$line")"
for package in g++ libboost-url-dev sqlite3; do
    expect "install-deps without root: names $package" 1 \
        "$(printf '%s\n' "$line" | tr ' ' '\n' | grep -cFx "$package")"
done
expect 'install-deps without root: names what is there' 0 \
    "$(printf '%s\n' "$line" | tr ' ' '\n' | grep -cFx cmake || true)"

# All packages are installed, so no root is needed.
stand_in dpkg-query 'for word in "$@"; do echo "$word=installed"; done'
expect 'install-deps with nothing to do' '' "$(PATH="$folder:$PATH" "$scripts/install-deps" 2>&1)"

# Processes that outlive the command are found in any session, and killed.
leave_nothing=$(dirname "$0")/leave-nothing
status=0
said=$("$leave_nothing" sh -c 'setsid sleep 987 >/dev/null 2>&1 & sleep 0' 2>&1) || status=$?
expect 'leave-nothing, something is left: status' 1 "$status"
expect 'leave-nothing, something is left: names it' 'left behind: sleep 987' \
    "$(printf '%s\n' "$said" | sed 's/: [0-9]* /: /')"
expect 'leave-nothing, something is left: it has ended' '' \
    "$(ls -d "/proc/$(printf '%s\n' "$said" | sed -n 's/.*: \([0-9]*\) .*/\1/p')" 2>/dev/null)"
status=0
"$leave_nothing" sh -c 'exit 3' || status=$?
expect 'leave-nothing, a command that fails' 3 "$status"
expect 'leave-nothing, nothing is left' '' "$("$leave_nothing" true 2>&1)"
exit $failed
