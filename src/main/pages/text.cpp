// Text of the man pages besides the definitions, in man(7) markup.

#include "pages.hpp"

namespace callsign::pages {

const page_text callsign_text{
    .section = '1',
    .summary = "accounts, tokens, series and the health of a Callsign server",
    .description = R"(.B callsign
administers a
.BR callsignd (8)
server.
It sends requests to the server over HTTP with an operator token, and prints the responses; a few
commands work on files and need no server, as their help states.
.PP
On the server's host
.B \-\-data\-dir
is sufficient: the directory has the server's URL and the operator token.
Options may come before or after the command.
.PP
Durations are a whole number and a unit: 250ms, 30s, 10m, 24h, 7d.
.PP
Destructive commands ask first; without a terminal they require
.BR \-\-yes .
)",
    .rest = R"(.SH EXIT STATUS
.TP
.B 0
Success.
.TP
.B 1
Failure; standard error has the reason.
.B doctor
and
.B check
report errors in this way too.
.TP
.B 2
Invalid command line.
.SH ENVIRONMENT
.TP
.B CALLSIGN_URL
Default of
.BR \-\-url .
.TP
.B CALLSIGN_TOKEN
Default of
.BR \-\-token .
.TP
.B CALLSIGN_STORE_DATA_DIR
Default of
.BR \-\-data\-dir .
.TP
.B CALLSIGN_CACERT
Default of
.BR \-\-cacert .
.TP
.B NO_COLOR\fR, \fBTERM
No colours if NO_COLOR is not empty or TERM is dumb.
.SH FILES
.TP
.I DIR/admin.token
Operator token, readable by the owner of the directory only.
.TP
.I DIR/listen.url
URL of the server while it runs.
.SH EXAMPLES
With the packaged server, as the user it runs as:
.PP
.nf
.RS
sudo \-u callsign callsign \-\-data\-dir /var/lib/callsign account create team \-\-prefix SYN
.RE
.fi
.SH SEE ALSO
.BR callsignd (8)
)",
};

const page_text callsignd_text{
    .section = '8',
    .summary = "sync server that gives every task a short key such as SYN-42",
    .description = R"(.B callsignd
serves tasks over HTTP and to Taskwarriors, with an embedded SQLite store.
It needs no configuration: without any it listens on 127.0.0.1:8080 and keeps its data in
.IR callsign\-data .
.PP
Settings are read from the file, then from the environment, then from these options; later ones
override earlier ones.
All settings are described in
.IR callsign.example.toml .
)",
    .rest = R"(.SH SIGNALS
.TP
.B SIGTERM\fR, \fBSIGINT
Graceful shutdown: requests in progress are finished, and the exit status is 0.
.TP
.B SIGHUP
Reload the configuration.
A configuration with errors is rejected.
The log lists the changed keys that apply now and those that need a restart.
.SH EXIT STATUS
.TP
.B 0
Stopped by a signal.
.TP
.B 1
The server could not start.
.TP
.B 2
The configuration has errors; standard error lists them.
.TP
.B 70
The outcome of a commit is unknown. Restart the server, which recovers the store.
.SH ENVIRONMENT
.TP
.B CALLSIGN_\fISECTION\fR_\fIKEY
Any setting: CALLSIGN_REAPER_WINDOW=15m is
.I window
under
.IR [reaper] .
.TP
.B CALLSIGN_MASTER_KEY
Master key, instead of a file.
.TP
.B NOTIFY_SOCKET\fR, \fBWATCHDOG_USEC
As
.BR sd_notify (3)
specifies: notifications of readiness, reload, stop and watchdog to the service manager.
.SH FILES
Of the package:
.TP
.I /etc/callsign/callsign.toml
The configuration.
.TP
.I /etc/callsign/master.key
Master key, created at the first installation of the package.
.TP
.I /var/lib/callsign
All data.
.TP
.I /usr/share/doc/callsign/callsign.example.toml
Every setting.
.SH SEE ALSO
.BR callsign (1)
)",
};

}  // namespace callsign::pages
