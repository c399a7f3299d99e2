// What the man pages say beside what the definitions do, in man(7).

#include "pages.hpp"

namespace callsign::pages {

const page_text callsign_text{
    .section = '1',
    .summary = "accounts, tokens, series and the health of a Callsign server",
    .description = R"(.B callsign
is what the operator of a
.BR callsignd (8)
types.
It asks the server over HTTP, as the operator, and prints the answer; a few commands work on files
and need no server, which they say.
.PP
On the server's own machine
.B \-\-data\-dir
is enough: where the server listens, and the operator's token, are found there.
Options may come before or after the command.
.PP
Durations are a whole number and a unit: 250ms, 30s, 10m, 24h, 7d.
)",
    .rest = R"(.SH EXIT STATUS
.TP
.B 0
It is done.
.TP
.B 1
It failed; a sentence on standard error says why.
.TP
.B 2
The command line was not understood.
.SH ENVIRONMENT
.TP
.B CALLSIGN_URL
The server, without
.BR \-\-url .
.TP
.B CALLSIGN_TOKEN
The operator's token, without
.BR \-\-token .
.TP
.B CALLSIGN_STORE_DATA_DIR
The server's directory, without
.BR \-\-data\-dir .
.SH FILES
.TP
.I DIR/admin.token
The operator's token, for the owner of the directory alone.
.TP
.I DIR/listen.url
Where the server listens, while it runs.
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
    .summary = "a sync server that gives every task a number people can say",
    .description = R"(.B callsignd
serves tasks over HTTP and to Taskwarriors, with an embedded SQLite store.
It needs no configuration: without any it listens on 127.0.0.1:8080 and keeps its data in
.IR callsign\-data .
.PP
What is configured is read from the file, then from the environment, then from these options; the
later wins.
The file that lists every setting, with its default and the reason to change it, is
.IR callsign.example.toml .
)",
    .rest = R"(.SH SIGNALS
.TP
.B SIGTERM\fR, \fBSIGINT
What is under way is finished, and the server ends with 0.
.TP
.B SIGHUP
The configuration is read again.
A faulty one changes nothing.
What is in force at once, and what after a restart, the example of the configuration says.
.SH EXIT STATUS
.TP
.B 0
It was told to end.
.TP
.B 1
It could not start.
.TP
.B 2
The configuration is faulty; every fault is on standard error.
.TP
.B 70
The outcome of a commit is not known. Start it again: its store then decides.
.SH ENVIRONMENT
.TP
.B CALLSIGN_\fISECTION\fR_\fIKEY
Any setting: CALLSIGN_REAPER_WINDOW=15m is
.I window
under
.IR [reaper] .
.TP
.B CALLSIGN_MASTER_KEY
The master key itself, instead of a file that has it.
.TP
.B NOTIFY_SOCKET\fR, \fBWATCHDOG_USEC
As
.BR sd_notify (3)
has them: the service manager is told that the server is ready, reloading, stopping and alive.
.SH FILES
Of the package:
.TP
.I /etc/callsign/callsign.toml
The configuration.
.TP
.I /etc/callsign/master.key
The master key, made when the package was first installed.
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
